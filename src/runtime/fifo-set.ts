/** Strings in the order in which they came, each once; adding, removing and taking the first cost the same at any size. */
export class FifoSet {
  readonly #keys = new Set<string>();
  /** Stands behind everything that was taken: a fresh iterator would walk over the holes that taken keys leave. */
  readonly #cursor = this.#keys.values();

  /** How many keys are in it. */
  get size(): number {
    return this.#keys.size;
  }

  /** Puts `key` last; does nothing when it is there. */
  add(key: string): void {
    this.#keys.add(key);
  }

  /** Whether a key is in it. */
  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** True when the key was there. */
  delete(key: string): boolean {
    return this.#keys.delete(key);
  }

  /** Takes out the key that has been here longest; undefined when there is none. */
  take(): string | undefined {
    // Asked at the end once, an iterator would stay there, whatever is added later.
    if (this.#keys.size === 0) return undefined;
    const { value } = this.#cursor.next();
    if (value !== undefined) this.#keys.delete(value);
    return value;
  }

  /** Forgets all keys. */
  clear(): void {
    this.#keys.clear();
  }
}
