import { FifoSet } from "./fifo-set.ts";

/** Inside a flow `high` is taken before `low`, and within each, first come, first served. */
export type Priority = "high" | "low";

interface Flow {
  readonly high: FifoSet;
  readonly low: FifoSet;
}

/**
 * Keys that wait, each once, in flows between which turns go round: however many keys one flow has, and however urgent
 * they are, a key that is the first of another flow waits for at most one key of every flow. Every call costs the same
 * at any size, except where it says otherwise.
 */
export class FairQueue {
  readonly #flowOf: (key: string) => string;
  readonly #flows = new Map<string, Flow>();
  /** The flows that have keys, the one whose turn is next first. */
  readonly #ring = new FifoSet();
  #size = 0;

  /** `flowOf` tells the flow of a key, always the same. */
  constructor(flowOf: (key: string) => string) {
    this.#flowOf = flowOf;
  }

  /** How many keys are in it. */
  get size(): number {
    return this.#size;
  }

  /** Whether a key is in it. */
  has(key: string): boolean {
    const flow = this.#flows.get(this.#flowOf(key));
    return flow !== undefined && (flow.high.has(key) || flow.low.has(key));
  }

  /** Puts `key` last among those of its flow and priority. One that is there keeps its place, or is raised to `high`. */
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

  /** True when the key was there. */
  delete(key: string): boolean {
    const name = this.#flowOf(key);
    const flow = this.#flows.get(name);
    if (flow === undefined || !(flow.high.delete(key) || flow.low.delete(key))) return false;
    this.#size--;
    if (isEmpty(flow)) this.#close(name);
    return true;
  }

  /**
   * Takes out the first key of the flow whose turn it is; undefined when there is none. A flow that `isBlocked` is
   * passed over, which costs the number of those.
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

  /** Takes out the first key of the flow that has most: for a queue that is full. Costs the number of flows. */
  takeFromLongest(): string | undefined {
    let longest: string | undefined;
    let most = 0;
    for (const [name, flow] of this.#flows) {
      const length = flow.high.size + flow.low.size;
      if (length > most) [longest, most] = [name, length];
    }
    return longest === undefined ? undefined : this.#takeFrom(longest);
  }

  /** Forgets all keys. */
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
