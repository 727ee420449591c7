/** An entry that waits for its time. `due` is in monotonic milliseconds. */
interface Delayed {
  readonly due: number;
}

/** A binary heap of entries by `due`, the earliest on top. Entries are removed only from the top. */
export class DelayHeap<T extends Delayed> {
  #heap: T[] = [];

  /** The number of entries. */
  get size(): number {
    return this.#heap.length;
  }

  /** Returns the earliest entry. */
  first(): T | undefined {
    return this.#heap[0];
  }

  /** Adds an entry, in a time that grows with the logarithm of the size. */
  push(entry: T): void {
    let place = this.#heap.push(entry) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!this.#isBefore(place, above)) return;
      this.#swap(place, above);
      place = above;
    }
  }

  /** Takes out the earliest entry. */
  pop(): T | undefined {
    const [first] = this.#heap;
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return first;
    this.#heap[0] = last;
    for (let place = 0, below = this.#below(0); this.#isBefore(below, place); below = this.#below(place)) {
      this.#swap(place, below);
      place = below;
    }
    return first;
  }

  /** Replaces all entries. */
  reset(entries: Iterable<T>): void {
    // A sorted array is a heap.
    this.#heap = [...entries].sort((a, b) => a.due - b.due);
  }

  /** Returns the index of the earlier of the two children of `place`, which need not exist. */
  #below(place: number): number {
    const left = 2 * place + 1;
    return this.#isBefore(left + 1, left) ? left + 1 : left;
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    return one !== undefined && other !== undefined && one.due < other.due;
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (one === undefined || other === undefined) return;
    this.#heap[a] = other;
    this.#heap[b] = one;
  }
}
