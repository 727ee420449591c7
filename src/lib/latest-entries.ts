/**
 * Sets an entry of a map as its latest one. If the map then has more than `limit` entries, removes and returns the oldest one. Use it where
 * tenants decide how many entries there would be.
 */
export function setLatest<K, V>(map: Map<K, V>, key: K, value: V, limit: number): readonly [K, V] | undefined {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.size > limit ? map : [];
  if (oldest !== undefined) map.delete(oldest[0]);
  return oldest;
}
