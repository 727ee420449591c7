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
