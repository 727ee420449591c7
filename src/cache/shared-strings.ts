/** Above this a table starts anew: what was shared stays so, and nothing piles up in months of changing names. */
const most = 1000;

/**
 * One copy of strings that many objects have. JSON.parse makes a new string for each value, so that 20,000 Secrets in
 * 50 namespaces hold 20,000 names of namespaces; and most Secrets have one of a few sets of keys.
 */
export class SharedStrings {
  readonly #strings = new Map<string, string>();
  readonly #lists = new Map<string, readonly string[]>();

  /** An equal string, the same one for all who ask. */
  string(text: string): string {
    return share(this.#strings, text, text);
  }

  /** A list of the same strings in the same order, the same one for all who ask. */
  list(texts: readonly string[]): readonly string[] {
    return share(this.#lists, JSON.stringify(texts), texts);
  }
}

function share<T>(table: Map<string, T>, key: string, value: T): T {
  const shared = table.get(key);
  if (shared !== undefined) return shared;
  if (table.size >= most) table.clear();
  table.set(key, value);
  return value;
}
