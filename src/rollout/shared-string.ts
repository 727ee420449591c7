/**
 * The one copy of a string that the engine keeps for property names: it is made of one piece, every equal one is the
 * same, and it goes when nobody uses it any more. A table of our own would need to be emptied. Tens of thousands of
 * objects have the same few namespaces, paths and keys, and JSON.parse makes a new string for each value.
 */
export function sharedString(text: string): string {
  const [internalized = text] = Object.keys({ [text]: undefined });
  return internalized;
}
