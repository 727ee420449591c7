/** In each flow, `high` is taken before `low`. Keys of one priority are taken in the order of their arrival. */
export type Priority = "high" | "low";

interface Flow {
  readonly high: FifoSet;
  readonly low: FifoSet;
}

/**
 * Distinct keys in flows that are served round-robin. The first key of a flow waits for at most one key of each other
 * flow, however many keys these have and however urgent they are. Each call costs the same at any size, unless its
 * comment says otherwise.
 */
export class FairQueue {
  readonly #flowOf: (key: string) => string;
  readonly #flows = new Map<string, Flow>();
  /** The flows that have keys, the next one first. */
  readonly #ring = new FifoSet();
  #size = 0;

  /** `flowOf` returns the flow of a key, always the same. */
  constructor(flowOf: (key: string) => string) {
    this.#flowOf = flowOf;
  }

  /** The number of keys. */
  get size(): number {
    return this.#size;
  }

  /** Reports whether `key` is in the queue. */
  has(key: string): boolean {
    const flow = this.#flows.get(this.#flowOf(key));
    return flow !== undefined && (flow.high.has(key) || flow.low.has(key));
  }

  /** Adds `key` as the last of its flow and priority. A key in the queue keeps its place, or is raised to `high`. */
  add(key: string, priority: Priority): void {
    const name = this.#flowOf(key);
    const flow = this.#flows.get(name) ?? this.#open(name);
    if (flow.high.has(key)) return;
    if (flow.low.has(key)) {
      if (priority === "low") return;
      flow.low.delete(key);
      this.#size--;
    }
    flow[priority].add(key);
    this.#size++;
  }

  /** Deletes `key`. Returns true if it was in the queue. */
  delete(key: string): boolean {
    const name = this.#flowOf(key);
    const flow = this.#flows.get(name);
    if (flow === undefined || !(flow.high.delete(key) || flow.low.delete(key))) return false;
    this.#size--;
    if (isEmpty(flow)) this.#close(name);
    return true;
  }

  /**
   * Takes out the first key of the next flow; undefined if there is no key. Skips flows for which `isBlocked` returns
   * true. Costs the number of skipped flows.
   */
  take(isBlocked: (flow: string) => boolean = () => false): string | undefined {
    for (let flows = this.#ring.size; flows > 0; flows--) {
      const name = this.#ring.take();
      if (name === undefined) return undefined;
      this.#ring.add(name);
      if (!isBlocked(name)) return this.#takeFrom(name);
    }
    return undefined;
  }

  /** Takes out the first key of the longest flow, for a queue that is full. Costs the number of flows. */
  takeFromLongest(): string | undefined {
    let longest: string | undefined;
    let most = 0;
    for (const [name, flow] of this.#flows) {
      const length = flow.high.size + flow.low.size;
      if (length > most) [longest, most] = [name, length];
    }
    return longest === undefined ? undefined : this.#takeFrom(longest);
  }

  /** Deletes all keys. */
  clear(): void {
    this.#flows.clear();
    this.#ring.clear();
    this.#size = 0;
  }

  #takeFrom(name: string): string | undefined {
    const flow = this.#flows.get(name);
    if (flow === undefined) return undefined;
    const key = flow.high.take() ?? flow.low.take();
    if (key !== undefined) this.#size--;
    if (isEmpty(flow)) this.#close(name);
    return key;
  }

  #open(name: string): Flow {
    const flow = { high: new FifoSet(), low: new FifoSet() };
    this.#flows.set(name, flow);
    this.#ring.add(name);
    return flow;
  }

  #close(name: string): void {
    this.#flows.delete(name);
    this.#ring.delete(name);
  }
}

function isEmpty({ high, low }: Flow): boolean {
  return high.size === 0 && low.size === 0;
}

/** Distinct strings in the order of their arrival. Adding, deleting and taking the first cost the same at any size. */
class FifoSet extends Set<string> {
  /** Is behind all keys that were taken: a fresh iterator would walk over the holes that taken keys leave. */
  readonly #cursor = this.values();

  /** Takes out the oldest key; undefined if the set is empty. */
  take(): string | undefined {
    // An iterator that was read at its end stays at the end, whatever is added later.
    if (this.size === 0) return undefined;
    const { value } = this.#cursor.next();
    if (value !== undefined) this.delete(value);
    return value;
  }
}
