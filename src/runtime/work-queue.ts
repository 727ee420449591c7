import { type Clock, longestTimerMs } from "../lib/clock.ts";
import { FairQueue, type Priority } from "./fair-queue.ts";

/** `next` is taken before `high` and `low` of all flows, for keys that already waited for a write permit. */
export type Urgency = "next" | Priority;

/** When and how urgently a key runs. `due` is in monotonic milliseconds; at or before now means at once. */
interface Entry {
  readonly key: string;
  readonly due: number;
  urgency: Urgency;
}

/**
 * Keys that wait for a worker, like client-go's workqueue (https://pkg.go.dev/k8s.io/client-go/util/workqueue), and fair
 * between flows of keys:
 * - A key is in the queue once, however often it is added. The earliest time and the highest urgency win.
 * - A key never has two workers. A key that is added while it runs, runs again after `done`.
 * - No added key is lost, except by `close`.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #flowOf: (key: string) => string;
  readonly #mostOfFlow: number;
  readonly #next: FairQueue;
  readonly #ready: FairQueue;
  /** The current entry of each key that waits for its time. */
  readonly #delayed = new Map<string, Entry>();
  /** By time: all of `#delayed`, and replaced entries, which are dropped when they come up. */
  readonly #heap = new DelayHeap();
  /** Keys with a worker, and the next run of each after `done`. */
  readonly #running = new Map<string, Entry | undefined>();
  /** The number of keys of each flow that have a worker. */
  readonly #runningOf = new Map<string, number>();
  /** The calls that wait in `get`, in the order of their arrival. */
  readonly #waiting = new Set<(key: string | undefined) => void>();
  #timer: { readonly due: number; readonly cancel: () => void } | undefined;
  #closed = false;

  /**
   * `flowOf` returns the flow of a key, such as its namespace. At most `mostOfFlow` keys of one flow have a worker at a
   * time, so that slow work in one flow leaves workers for the others. Default: no limit.
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

  /** The number of keys that wait only for a worker. */
  get depth(): number {
    return this.#next.size + this.#ready.size;
  }

  /** The number of keys that wait for their time. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Enqueues `key`, now or after `delayMs`. Has no effect after `close`. */
  add(key: string, { urgency = "high", delayMs = 0 }: { urgency?: Urgency; delayMs?: number } = {}): void {
    this.#enqueue({ key, due: this.#clock.monotonic() + delayMs, urgency });
  }

  /** Waits for the next key, which belongs to the caller until `done`. Resolves to undefined after `close`. */
  get(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    this.#wakeDue();
    const key = this.#take();
    return key === undefined ? new Promise((resolve) => this.#waiting.add(resolve)) : Promise.resolve(key);
  }

  /** Ends the run of a key that `get` returned. Throws for any other key: that is a bug of the caller. */
  done(key: string): void {
    if (!this.#running.has(key)) throw new Error(`bug: key ${JSON.stringify(key)} has no worker`);
    const next = this.#running.get(key);
    this.#running.delete(key);
    const flow = this.#flowOf(key);
    const left = (this.#runningOf.get(flow) ?? 1) - 1;
    if (left > 0) this.#runningOf.set(flow, left);
    else this.#runningOf.delete(flow);
    if (next !== undefined) this.#enqueue(next);
    this.#serveWaiting();
  }

  /** Drops all waiting keys and refuses new ones. Calls that wait in `get` resolve to undefined. Keys with a worker stay. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#delayed.clear();
    this.#heap.reset([]);
    this.#next.clear();
    this.#ready.clear();
    for (const waiting of this.#waiting) waiting(undefined);
    this.#waiting.clear();
  }

  #enqueue(entry: Entry): void {
    const { key } = entry;
    if (this.#closed) return;
    if (this.#running.has(key)) this.#running.set(key, merged(this.#running.get(key), entry));
    else if (this.#next.has(key)) return;
    else if (this.#ready.has(key)) this.#putReady(entry);
    else this.#wait(merged(this.#delayed.get(key), entry));
  }

  #wait(entry: Entry): void {
    if (entry.due > this.#clock.monotonic()) {
      if (this.#delayed.get(entry.key) !== entry) this.#delay(entry);
      return;
    }
    this.#delayed.delete(entry.key);
    this.#putReady(entry);
    this.#serveWaiting();
  }

  #delay(entry: Entry): void {
    this.#delayed.set(entry.key, entry);
    this.#heap.push(entry);
    // There are at most as many replaced entries as current ones.
    if (this.#heap.size > 2 * this.#delayed.size + 16) this.#heap.reset(this.#delayed.values());
    this.#armTimer();
  }

  #putReady({ key, urgency }: Entry): void {
    if (urgency === "next") {
      this.#ready.delete(key);
      this.#next.add(key, "high");
    } else {
      this.#ready.add(key, urgency);
    }
  }

  #serveWaiting(): void {
    for (const waiting of this.#waiting) {
      const key = this.#take();
      if (key === undefined) return;
      this.#waiting.delete(waiting);
      waiting(key);
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

  /** One timer for all keys, for the earliest. A timer that fires early finds no key due and is set again. */
  #armTimer(): void {
    const first = this.#firstDelayed();
    if (first === undefined || (this.#timer !== undefined && this.#timer.due <= first.due)) return;
    this.#timer?.cancel();
    const ms = Math.min(longestTimerMs, Math.ceil(first.due - this.#clock.monotonic()));
    const cancel = this.#clock.timer(ms, () => {
      this.#timer = undefined;
      this.#wakeDue();
      this.#serveWaiting();
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

  #firstDelayed(): Entry | undefined {
    for (let first = this.#heap.first(); first !== undefined; first = this.#heap.first()) {
      if (this.#delayed.get(first.key) === first) return first;
      this.#heap.pop();
    }
    return undefined;
  }
}

const urgencies: readonly Urgency[] = ["low", "high", "next"];

/** Merges two entries of one key: the earlier time and the higher urgency. Returns `a` itself if `b` is not earlier. */
function merged(a: Entry | undefined, b: Entry): Entry {
  if (a === undefined) return b;
  const urgency = urgencies.indexOf(a.urgency) < urgencies.indexOf(b.urgency) ? b.urgency : a.urgency;
  if (b.due < a.due) return { key: a.key, due: b.due, urgency };
  a.urgency = urgency;
  return a;
}

/** A binary heap of entries by `due`, the earliest on top. Entries are removed only from the top. */
class DelayHeap {
  #heap: Entry[] = [];

  /** The number of entries. */
  get size(): number {
    return this.#heap.length;
  }

  /** Returns the earliest entry. */
  first(): Entry | undefined {
    return this.#heap[0];
  }

  /** Adds an entry, in a time that grows with the logarithm of the size. */
  push(entry: Entry): void {
    let place = this.#heap.push(entry) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!this.#isBefore(place, above)) return;
      this.#swap(place, above);
      place = above;
    }
  }

  /** Takes out the earliest entry. */
  pop(): Entry | undefined {
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
  reset(entries: Iterable<Entry>): void {
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
