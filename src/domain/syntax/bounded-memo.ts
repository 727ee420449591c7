/**
 * Returns a function that keeps the last `maxEntries` results of `compute`. It drops the least recently used entry first, so
 * that texts from users cannot grow it.
 */
export function boundedMemo<T>(maxEntries: number, compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.has(text) ? (known.get(text) as T) : compute(text);
    known.delete(text);
    known.set(text, found);
    const [oldest] = known.keys();
    if (known.size > maxEntries && oldest !== undefined) known.delete(oldest);
    return found;
  };
}
