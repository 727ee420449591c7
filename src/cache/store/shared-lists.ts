/** Maximum number of shared lists. Above it the table is cleared, so that changing names do not accumulate over months. */
const maxLists = 1_000;
/** Longer lists rarely occur twice, and a table of them would grow with user input (up to 40 MiB was measured). */
const longestList = { strings: 16, characters: 256 };

/**
 * Keeps one copy of each short list that many objects have: most Secrets have one of a few sets of keys. Uses less than
 * 1 MiB for any input.
 */
export class SharedLists {
  readonly #lists = new Map<string, readonly string[]>();

  /** Returns the shared copy of a short list with the same strings in the same order. Returns a long list unchanged. */
  list(texts: readonly string[]): readonly string[] {
    if (!isShareable(texts)) return texts;
    const key = texts.join("\n");
    const shared = this.#lists.get(key);
    if (shared?.length === texts.length && shared.every((text, index) => text === texts[index])) return shared;
    if (this.#lists.size >= maxLists) this.#lists.clear();
    this.#lists.set(key, texts);
    return texts;
  }
}

/** Reports whether a list is short enough to be shared. */
export function isShareable(texts: readonly string[]): boolean {
  if (texts.length > longestList.strings) return false;
  return texts.reduce((sum, text) => sum + text.length + 1, -1) <= longestList.characters;
}
