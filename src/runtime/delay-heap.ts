/** Something that waits for its time. `due` is on the monotonic clock, in milliseconds. */
export interface Delayed {
  readonly due: number;
}

/** What waits, the one that falls due first on top: a binary heap. Nothing is removed but from the top. */
export class DelayHeap<T extends Delayed> {
  #heap: T[] = [];

  /** How many wait. */
  get size(): number {
    return this.#heap.length;
  }

  /** The one that falls due first. */
  first(): T | undefined {
    return this.#heap[0];
  }

  /** Adds one, in a time that grows as the logarithm of how many wait. */
  push(entry: T): void {
    let place = this.#heap.push(entry) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!this.#isBefore(place, above)) return;
      this.#swap(place, above);
      place = above;
    }
  }

  /** Takes out the one that falls due first. */
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

  /** Keeps only these. */
  reset(entries: Iterable<T>): void {
    // In order of time an array is a heap.
    this.#heap = [...entries].sort((a, b) => a.due - b.due);
  }

  /** The earlier of the two below a place; there may be none there. */
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
