/**
 * The one copy of a string that the engine keeps for property names: it is made of one piece, every equal one is the
 * same, and it goes when nobody uses it any more. A table of our own would need to be emptied. Tens of thousands of
 * objects have the same few namespaces, paths and keys, and JSON.parse makes a new string for each value.
 */
export function sharedString(text: string): string {
  // Without a prototype it is a table from the start: a literal with that name would make a hidden class for each.
  const table: Record<string, undefined> = Object.create(null);
  table[text] = undefined;
  const [internalized = text] = Object.keys(table);
  return internalized;
}
