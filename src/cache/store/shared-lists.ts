/** Above this the table starts anew: what was shared stays so, and nothing piles up in months of changing names. */
const mostLists = 1_000;
/** Longer lists are rarely those of two objects, and a table of them would grow with what anybody writes: to 40 MiB once. */
const longest = { strings: 16, characters: 256 };

/**
 * One copy of short lists that many objects have: most Secrets have one of a few sets of keys. Holds less than 1 MiB,
 * whatever it is given.
 */
export class SharedLists {
  readonly #lists = new Map<string, readonly string[]>();

  /** The same strings in the same order, the same list for all who ask where it is short. */
  list(texts: readonly string[]): readonly string[] {
    if (!mayBeShared(texts)) return texts;
    const key = texts.join("\n");
    const shared = this.#lists.get(key);
    if (shared?.length === texts.length && shared.every((text, index) => text === texts[index])) return shared;
    if (this.#lists.size >= mostLists) this.#lists.clear();
    this.#lists.set(key, texts);
    return texts;
  }
}

/** Whether a list is short enough to be shared. */
export function mayBeShared(texts: readonly string[]): boolean {
  if (texts.length > longest.strings) return false;
  return texts.reduce((sum, text) => sum + text.length + 1, -1) <= longest.characters;
}
