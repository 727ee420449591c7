/** Distinct strings in the order of their arrival. Adding, deleting and taking the first cost the same at any size. */
export class FifoSet {
  readonly #keys = new Set<string>();
  /** Is behind all keys that were taken: a fresh iterator would walk over the holes that taken keys leave. */
  readonly #cursor = this.#keys.values();

  /** The number of keys. */
  get size(): number {
    return this.#keys.size;
  }

  /** Adds `key` as the last one. Has no effect on a key that is in the set. */
  add(key: string): void {
    this.#keys.add(key);
  }

  /** Reports whether `key` is in the set. */
  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Deletes `key`. Returns true if it was in the set. */
  delete(key: string): boolean {
    return this.#keys.delete(key);
  }

  /** Takes out the oldest key; undefined if the set is empty. */
  take(): string | undefined {
    // An iterator that was read at its end stays at the end, whatever is added later.
    if (this.#keys.size === 0) return undefined;
    const { value } = this.#cursor.next();
    if (value !== undefined) this.#keys.delete(value);
    return value;
  }

  /** Deletes all keys. */
  clear(): void {
    this.#keys.clear();
  }
}
