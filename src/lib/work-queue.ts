import { backoffMs } from "./backoff.ts";
import type { Clock } from "./clock.ts";
import { DelayHeap } from "./delay-heap.ts";
import { FifoSet } from "./fifo-set.ts";

/** `high` is taken before `low`; within each, first come, first served. */
export type Priority = "high" | "low";

/** When and how urgently a key is to run: `due` is on the monotonic clock, at or before now for at once. */
interface Turn {
  readonly due: number;
  readonly priority: Priority;
}

interface Running {
  readonly priority: Priority;
  /** Asked for while it runs: it gets this turn after `done`. */
  again: Turn | undefined;
}

/** The longest delay that setTimeout can count. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Keys that wait for a worker, in the manner of client-go's workqueue
 * (https://pkg.go.dev/k8s.io/client-go/util/workqueue):
 * - a key waits once, however often it is added, and the earliest time and the highest priority asked for win;
 * - a key is never with two workers: one that is added while it runs is run again after `done`;
 * - nothing that was added is lost, except by `close`.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #backoff: { readonly baseMs: number; readonly maxMs: number };
  readonly #ready = { high: new FifoSet(), low: new FifoSet() };
  readonly #delayed = new DelayHeap<Priority>();
  readonly #running = new Map<string, Running>();
  readonly #failures = new Map<string, number>();
  readonly #takers = new Set<(key: string | undefined) => void>();
  #idlers: (() => void)[] = [];
  #timer: { readonly due: number; readonly cancel: () => void } | undefined;
  #closed = false;

  /** `backoff` is what `retry` waits, by default from 200 ms to 5 minutes; `random` gives numbers in [0, 1). */
  constructor(options: {
    clock: Clock;
    random?: () => number;
    backoff?: { readonly baseMs: number; readonly maxMs: number };
  }) {
    this.#clock = options.clock;
    this.#random = options.random ?? Math.random;
    this.#backoff = options.backoff ?? { baseMs: 200, maxMs: 300_000 };
  }

  /** How many keys a worker could take now. */
  get depth(): number {
    return this.#ready.high.size + this.#ready.low.size;
  }

  /** How many keys wait for their time. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Asks for a run of `key`, at once or `delayMs` from now. Does nothing after `close`. */
  add(key: string, { priority = "high", delayMs = 0 }: { priority?: Priority; delayMs?: number } = {}): void {
    this.#ask(key, { due: this.#clock.monotonic() + delayMs, priority });
  }

  /**
   * Asks for another run of a key that failed, with the priority of the run that failed: after a delay that doubles
   * with each `retry` until `forget`, and not before `atLeastMs` (what a server asked for with Retry-After).
   */
  retry(key: string, { atLeastMs = 0 }: { atLeastMs?: number } = {}): void {
    const attempt = this.#failures.get(key) ?? 0;
    this.#failures.set(key, attempt + 1);
    const delayMs = Math.max(atLeastMs, backoffMs(attempt, { ...this.#backoff, random: this.#random }));
    this.add(key, { priority: this.#running.get(key)?.priority ?? "high", delayMs });
  }

  /** Starts the delays of `retry` again from the shortest: for a key that succeeded or is gone. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, when there is one; it is the caller's until `done`. Undefined after `close` or when `signal` is aborted. */
  next(signal?: AbortSignal): Promise<string | undefined> {
    if (this.#closed || signal?.aborted) return Promise.resolve(undefined);
    this.#wakeDue();
    const key = this.#take();
    if (key !== undefined) return Promise.resolve(key);
    return new Promise((resolve) => {
      const taker = (given: string | undefined) => {
        this.#takers.delete(taker);
        signal?.removeEventListener("abort", onAbort);
        resolve(given);
      };
      const onAbort = () => taker(undefined);
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#takers.add(taker);
    });
  }

  /** Gives a key back that `next` gave out. */
  done(key: string): void {
    const running = this.#running.get(key);
    if (running === undefined) return;
    this.#running.delete(key);
    if (running.again !== undefined) this.#ask(key, running.again);
    if (this.#running.size === 0) this.#becomeIdle();
  }

  /** Drops every key that waits and refuses new ones; whoever waits in `next` gets undefined. Keys with a worker stay. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#delayed.clear();
    this.#ready.high.clear();
    this.#ready.low.clear();
    this.#failures.clear();
    for (const taker of this.#takers) taker(undefined);
  }

  /** Resolves as soon as no key is with a worker. */
  idle(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idlers.push(resolve));
  }

  #ask(key: string, turn: Turn): void {
    if (this.#closed) return;
    const running = this.#running.get(key);
    if (running !== undefined) running.again = soonest(running.again, turn);
    else if (this.#ready.high.has(key)) return;
    else if (this.#ready.low.has(key)) this.#raise(key, turn.priority);
    else this.#wait(key, soonest(this.#delayed.get(key), turn));
  }

  #raise(key: string, priority: Priority): void {
    if (priority === "low") return;
    this.#ready.low.delete(key);
    this.#ready.high.add(key);
  }

  #wait(key: string, { due, priority }: Turn): void {
    if (due > this.#clock.monotonic()) {
      this.#delayed.set(key, due, priority);
      this.#armTimer();
    } else {
      this.#delayed.delete(key);
      this.#ready[priority].add(key);
      this.#serveTakers();
    }
  }

  #serveTakers(): void {
    for (const taker of this.#takers) {
      const key = this.#take();
      if (key === undefined) return;
      taker(key);
    }
  }

  #take(): string | undefined {
    const high = this.#ready.high.take();
    const key = high ?? this.#ready.low.take();
    if (key !== undefined) this.#running.set(key, { priority: high === undefined ? "low" : "high", again: undefined });
    return key;
  }

  /** One timer for all keys: for the one that falls due first. One that is too early finds nothing due and is set again. */
  #armTimer(): void {
    const first = this.#delayed.first();
    if (first === undefined || (this.#timer !== undefined && this.#timer.due <= first.due)) return;
    this.#timer?.cancel();
    const ms = Math.min(maxTimerMs, Math.ceil(first.due - this.#clock.monotonic()));
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
    for (let first = this.#delayed.first(); first !== undefined && first.due <= now; first = this.#delayed.first()) {
      this.#delayed.delete(first.key);
      this.#ready[first.priority].add(first.key);
    }
  }

  #becomeIdle(): void {
    const idlers = this.#idlers;
    this.#idlers = [];
    for (const resolve of idlers) resolve();
  }
}

function soonest(a: Turn | undefined, b: Turn): Turn {
  if (a === undefined) return b;
  return { due: Math.min(a.due, b.due), priority: a.priority === "high" ? "high" : b.priority };
}
