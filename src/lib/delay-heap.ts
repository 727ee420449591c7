/** A key that waits for its time. `due` is on the monotonic clock, in milliseconds. */
export interface Delayed<P> {
  readonly key: string;
  readonly due: number;
  readonly priority: P;
}

interface Node<P> extends Delayed<P> {
  due: number;
  priority: P;
  place: number;
}

/** Keys by the time at which they fall due, each once: a binary heap whose nodes know their place, so any can be removed. */
export class DelayHeap<P> {
  readonly #nodes = new Map<string, Node<P>>();
  readonly #heap: Node<P>[] = [];

  get size(): number {
    return this.#heap.length;
  }

  get(key: string): Delayed<P> | undefined {
    return this.#nodes.get(key);
  }

  /** The one that falls due first. */
  first(): Delayed<P> | undefined {
    return this.#heap[0];
  }

  /** Adds a key, or gives one that is there a new time and priority. */
  set(key: string, due: number, priority: P): void {
    const node = this.#nodes.get(key) ?? this.#append(key, due, priority);
    node.due = due;
    node.priority = priority;
    this.#settle(node);
  }

  delete(key: string): void {
    const node = this.#nodes.get(key);
    if (node === undefined) return;
    this.#nodes.delete(key);
    const last = this.#heap.pop();
    if (last === undefined || last === node) return;
    this.#put(last, node.place);
    this.#settle(last);
  }

  clear(): void {
    this.#nodes.clear();
    this.#heap.length = 0;
  }

  #append(key: string, due: number, priority: P): Node<P> {
    const node = { key, due, priority, place: this.#heap.length };
    this.#nodes.set(key, node);
    this.#heap.push(node);
    return node;
  }

  #put(node: Node<P>, place: number): void {
    node.place = place;
    this.#heap[place] = node;
  }

  /** Moves a node whose time has changed to where it belongs: up past later ones, then down past earlier ones. */
  #settle(node: Node<P>): void {
    for (let above = this.#above(node); above !== undefined && above.due > node.due; above = this.#above(node)) {
      this.#swap(node, above);
    }
    for (let below = this.#below(node); below !== undefined && below.due < node.due; below = this.#below(node)) {
      this.#swap(node, below);
    }
  }

  #above(node: Node<P>): Node<P> | undefined {
    return node.place === 0 ? undefined : this.#heap[(node.place - 1) >> 1];
  }

  /** The earlier of the two below a node. */
  #below(node: Node<P>): Node<P> | undefined {
    const left = this.#heap[2 * node.place + 1];
    const right = this.#heap[2 * node.place + 2];
    return left !== undefined && right !== undefined && right.due < left.due ? right : left;
  }

  #swap(a: Node<P>, b: Node<P>): void {
    const place = a.place;
    this.#put(a, b.place);
    this.#put(b, place);
  }
}
