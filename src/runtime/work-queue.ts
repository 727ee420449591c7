import { type Clock, longestTimerMs } from "../lib/clock.ts";
import { DelayHeap } from "./delay-heap.ts";
import { FairQueue, type Priority } from "./fair-queue.ts";

/** `next` is taken before `high` and `low` of all flows: for what already waited its turn elsewhere. */
export type Urgency = "next" | Priority;

/** When and how urgently a key is to run: `due` is on the monotonic clock, at or before now for at once. */
interface Turn {
  readonly key: string;
  readonly due: number;
  urgency: Urgency;
}

/**
 * Keys that wait for a worker, in the manner of client-go's workqueue
 * (https://pkg.go.dev/k8s.io/client-go/util/workqueue), and fair between flows of keys:
 * - a key waits once, however often it is added, and the earliest time and the highest urgency asked for win;
 * - a key is never with two workers: one that is added while it runs is run again after `done`;
 * - nothing that was added is lost, except by `close`.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #flowOf: (key: string) => string;
  readonly #mostOfFlow: number;
  readonly #next: FairQueue;
  readonly #ready: FairQueue;
  /** What counts of each key that waits for its time. */
  readonly #delayed = new Map<string, Turn>();
  /** By time, all that is in `#delayed` and what does not count any more, which is dropped when it comes up. */
  readonly #heap = new DelayHeap<Turn>();
  /** Keys with a worker, and the turn that each gets after `done`. */
  readonly #running = new Map<string, Turn | undefined>();
  /** How many keys of each flow are with a worker. */
  readonly #runningOf = new Map<string, number>();
  /** Whoever waits in `next`, in the order in which they came. */
  readonly #takers = new Set<(key: string | undefined) => void>();
  #timer: { readonly due: number; readonly cancel: () => void } | undefined;
  #closed = false;

  /**
   * `flowOf` tells the flow of a key, such as its namespace. No more than `mostOfFlow` keys of one are with workers at a
   * time, so that work which takes long in one flow leaves workers for the others; default: any number.
   */
  constructor(options: {
    readonly clock: Clock;
    readonly flowOf: (key: string) => string;
    readonly mostOfFlow?: number;
  }) {
    this.#clock = options.clock;
    this.#flowOf = options.flowOf;
    this.#mostOfFlow = options.mostOfFlow ?? Number.POSITIVE_INFINITY;
    this.#next = new FairQueue(options.flowOf);
    this.#ready = new FairQueue(options.flowOf);
  }

  /** How many keys wait for nothing but a worker. */
  get depth(): number {
    return this.#next.size + this.#ready.size;
  }

  /** How many keys wait for their time. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Asks for a run of `key`, at once or `delayMs` from now. Does nothing after `close`. */
  add(key: string, { urgency = "high", delayMs = 0 }: { urgency?: Urgency; delayMs?: number } = {}): void {
    this.#ask({ key, due: this.#clock.monotonic() + delayMs, urgency });
  }

  /** The next key, when there is one; it is the caller's until `done`. Undefined after `close`. */
  next(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    this.#wakeDue();
    const key = this.#take();
    return key === undefined ? new Promise((resolve) => this.#takers.add(resolve)) : Promise.resolve(key);
  }

  /** Gives a key back that `next` gave out. */
  done(key: string): void {
    if (!this.#running.has(key)) return;
    const again = this.#running.get(key);
    this.#running.delete(key);
    const flow = this.#flowOf(key);
    const left = (this.#runningOf.get(flow) ?? 1) - 1;
    if (left > 0) this.#runningOf.set(flow, left);
    else this.#runningOf.delete(flow);
    if (again !== undefined) this.#ask(again);
    this.#serveTakers();
  }

  /** Drops every key that waits and refuses new ones; whoever waits in `next` gets undefined. Keys with a worker stay. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#delayed.clear();
    this.#heap.reset([]);
    this.#next.clear();
    this.#ready.clear();
    for (const taker of this.#takers) taker(undefined);
    this.#takers.clear();
  }

  #ask(turn: Turn): void {
    const { key } = turn;
    if (this.#closed) return;
    if (this.#running.has(key)) this.#running.set(key, soonest(this.#running.get(key), turn));
    else if (this.#next.has(key)) return;
    else if (this.#ready.has(key)) this.#putReady(turn);
    else this.#wait(soonest(this.#delayed.get(key), turn));
  }

  #wait(turn: Turn): void {
    if (turn.due > this.#clock.monotonic()) {
      if (this.#delayed.get(turn.key) !== turn) this.#delay(turn);
      return;
    }
    this.#delayed.delete(turn.key);
    this.#putReady(turn);
    this.#serveTakers();
  }

  #delay(turn: Turn): void {
    this.#delayed.set(turn.key, turn);
    this.#heap.push(turn);
    // What does not count any more is at most as much as what does.
    if (this.#heap.size > 2 * this.#delayed.size + 16) this.#heap.reset(this.#delayed.values());
    this.#armTimer();
  }

  #putReady({ key, urgency }: Turn): void {
    if (urgency === "next") {
      this.#ready.delete(key);
      this.#next.add(key, "high");
    } else {
      this.#ready.add(key, urgency);
    }
  }

  #serveTakers(): void {
    for (const taker of this.#takers) {
      const key = this.#take();
      if (key === undefined) return;
      this.#takers.delete(taker);
      taker(key);
    }
  }

  #take(): string | undefined {
    const isBlocked = (flow: string) => (this.#runningOf.get(flow) ?? 0) >= this.#mostOfFlow;
    const key = this.#next.take(isBlocked) ?? this.#ready.take(isBlocked);
    if (key === undefined) return undefined;
    this.#running.set(key, undefined);
    const flow = this.#flowOf(key);
    this.#runningOf.set(flow, (this.#runningOf.get(flow) ?? 0) + 1);
    return key;
  }

  /** One timer for all keys: for the one that falls due first. One that is too early finds nothing due and is set again. */
  #armTimer(): void {
    const first = this.#firstDelayed();
    if (first === undefined || (this.#timer !== undefined && this.#timer.due <= first.due)) return;
    this.#timer?.cancel();
    const ms = Math.min(longestTimerMs, Math.ceil(first.due - this.#clock.monotonic()));
    const cancel = this.#clock.timer(ms, () => {
      this.#timer = undefined;
      this.#wakeDue();
      this.#serveTakers();
      this.#armTimer();
    });
    this.#timer = { due: first.due, cancel };
  }

  #wakeDue(): void {
    const now = this.#clock.monotonic();
    for (let first = this.#firstDelayed(); first !== undefined && first.due <= now; first = this.#firstDelayed()) {
      this.#heap.pop();
      this.#delayed.delete(first.key);
      this.#putReady(first);
    }
  }

  #firstDelayed(): Turn | undefined {
    for (let first = this.#heap.first(); first !== undefined; first = this.#heap.first()) {
      if (this.#delayed.get(first.key) === first) return first;
      this.#heap.pop();
    }
    return undefined;
  }
}

const urgencies: readonly Urgency[] = ["low", "high", "next"];

/** The turn that a key has which was asked for twice; `a` itself where `b` is not sooner. */
function soonest(a: Turn | undefined, b: Turn): Turn {
  if (a === undefined) return b;
  const urgency = urgencies.indexOf(a.urgency) < urgencies.indexOf(b.urgency) ? b.urgency : a.urgency;
  if (b.due < a.due) return { key: a.key, due: b.due, urgency };
  a.urgency = urgency;
  return a;
}
