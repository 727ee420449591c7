/**
 * Returns the copy of a string that the JavaScript engine keeps for property names. That copy is contiguous, equal strings share it,
 * and the engine frees it when it is unused. A table of our own would need its own cleanup. Tens of thousands of objects have the
 * same few namespaces, paths and keys, and JSON.parse creates a new string for each value.
 */
export function sharedString(text: string): string {
  table[text] = undefined;
  const internalized = Object.keys(table)[0] ?? text;
  delete table[text];
  return internalized;
}

/** Empty between calls. An object without prototype is a hash table from the start. An object literal would create a hidden class for each name. */
const table: Record<string, undefined> = Object.create(null);

/**
 * Returns a function that keeps at most `maxEntries` results of `compute`, so that texts from users cannot grow it. Keeps at least the half
 * of them that was used last: it fills one map with what is used, and then drops the map that it filled before. A single map in the
 * order of the last use would change at each call.
 */
export function boundedMemo<T>(maxEntries: number, compute: (text: string) => T): (text: string) => T {
  let recent = new Map<string, T>();
  let older = new Map<string, T>();
  return (text) => {
    if (recent.has(text)) return recent.get(text) as T;
    const found = older.has(text) ? (older.get(text) as T) : compute(text);
    if (recent.size >= maxEntries / 2) {
      older = recent;
      recent = new Map();
    }
    recent.set(text, found);
    return found;
  };
}
