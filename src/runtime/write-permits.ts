import { type Clock, longestTimerMs } from "../lib/clock.ts";
import { FairQueue, type Priority } from "./fair-queue.ts";
import type { TokenBucket } from "./token-bucket.ts";

/** What a controller writes. Housekeeping is every write that no rollout waits for. */
export type PermitUse = "rollouts" | "housekeeping";

/** While housekeeping waits, it gets one permit after so many rollouts: otherwise endless rollouts of one tenant would stop it. */
const rolloutsInTurn = 9;

/**
 * Grants the writes of all controllers of one leadership at `--update-rate` and `--update-burst`. Rollouts come before
 * housekeeping, which gets every tenth permit while both wait. The controllers of one use take turns, and so do the flows
 * (namespaces) of each controller.
 */
export class WritePermits {
  readonly #clock: Clock;
  readonly #tokens: TokenBucket;
  readonly #queues: Record<PermitUse, ControllerPermits[]> = { rollouts: [], housekeeping: [] };
  /** The rollouts that got a permit since housekeeping waits. */
  #rollouts = 0;
  #cancelTimer: (() => void) | undefined;
  readonly #leadership: Leadership;

  constructor(options: { readonly clock: Clock; readonly tokens: TokenBucket; readonly leadership: Leadership }) {
    const { stop, abort } = options.leadership;
    this.#clock = options.clock;
    this.#tokens = options.tokens;
    this.#leadership = options.leadership;
    for (const signal of [stop, abort]) signal.addEventListener("abort", () => this.#close(), { once: true });
  }

  /** Reports whether this process may not write any more. */
  get isOver(): boolean {
    return this.#isClosed || !this.#leadership.valid();
  }

  /** Returns the permits of one controller. */
  of(use: PermitUse, options: ControllerPermitsOptions): ControllerPermits {
    const permits = new ControllerPermits(options, this);
    this.#queues[use].push(permits);
    return permits;
  }

  /** Takes a permit if there is one and no key waits. */
  takeAtOnce(): boolean {
    return !this.#anyWaits && this.#tokens.take();
  }

  /** Grants permits in time to a key that waits from now on. */
  keyWaits(): void {
    if (this.#cancelTimer === undefined) this.#grant();
  }

  /** Returns a permit that was taken and not used. */
  giveBack(): void {
    this.#tokens.giveBack();
    this.#grant();
  }

  get #isClosed(): boolean {
    return this.#leadership.stop.aborted || this.#leadership.abort.aborted;
  }

  /** Removes all keys. No permit is granted any more. */
  #close(): void {
    const { rollouts, housekeeping } = this.#queues;
    for (const permits of [...rollouts, ...housekeeping]) permits.clear();
    this.#grant();
  }

  get #anyWaits(): boolean {
    return anyWaits(this.#queues.rollouts) || anyWaits(this.#queues.housekeeping);
  }

  #grant(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    while (!this.#isClosed && this.#anyWaits && this.#tokens.take()) this.#next()?.grantNext();
    if (this.#isClosed || !this.#anyWaits) return;
    const ms = Math.min(longestTimerMs, Math.ceil(this.#tokens.waitMs));
    this.#cancelTimer = this.#clock.timer(ms, () => this.#grant());
  }

  /** Returns the controller whose turn it is. */
  #next(): ControllerPermits | undefined {
    const { rollouts, housekeeping } = this.#queues;
    const rollout = this.#rollouts < rolloutsInTurn ? takeTurn(rollouts) : undefined;
    if (rollout !== undefined) {
      this.#rollouts = anyWaits(housekeeping) ? this.#rollouts + 1 : 0;
      return rollout;
    }
    this.#rollouts = 0;
    return takeTurn(housekeeping) ?? takeTurn(rollouts);
  }
}

function anyWaits(queues: readonly ControllerPermits[]): boolean {
  return queues.some(({ waiting }) => waiting > 0);
}

/** Moves the first controller with waiting keys to the end, and returns it. */
function takeTurn(queues: ControllerPermits[]): ControllerPermits | undefined {
  const index = queues.findIndex(({ waiting }) => waiting > 0);
  if (index < 0) return undefined;
  const [next] = queues.splice(index, 1) as [ControllerPermits];
  queues.push(next);
  return next;
}

/** What the permits of one controller need. */
interface ControllerPermitsOptions {
  /** Returns the flow of a key, such as its namespace. */
  readonly flowOf: (key: string) => string;
  /** Called with a key that has a permit now: reconcile the key, then call `take` or `drop`. Default: the key awaits `wait`. */
  readonly onGranted?: (key: string) => void;
}

/**
 * The permits of one controller. A worker takes a permit right before a write. If there is no permit, the key waits and no
 * worker waits with it: when the permit is granted, the key is reconciled again. If a key with a permit has nothing to
 * write, its permit goes to the next key at once.
 */
export class ControllerPermits {
  readonly #options: ControllerPermitsOptions;
  readonly #all: WritePermits;
  readonly #waiting: FairQueue;
  /** The keys that have a permit and neither took nor dropped it. */
  readonly #granted = new Set<string>();
  /** The calls of `wait`, by key. */
  readonly #awaited = new Map<string, () => void>();

  constructor(options: ControllerPermitsOptions, all: WritePermits) {
    this.#options = options;
    this.#all = all;
    this.#waiting = new FairQueue(options.flowOf);
  }

  /** The number of keys that wait for a permit. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes a permit for one write. Returns false if there is no permit, and the key waits; also after the leadership. */
  take(key: string, priority: Priority): boolean {
    if (this.#all.isOver) return false;
    // Keys that already wait come before a new one.
    if (this.#granted.delete(key) || this.#all.takeAtOnce()) return true;
    this.#waiting.add(key, priority);
    this.#all.keyWaits();
    return false;
  }

  /**
   * Waits for a permit for one write, for a worker that would have to read everything again. Resolves to false when the
   * leadership is over. A key waits once at a time.
   */
  async wait(key: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>();
    // Stored first: the permit may be granted while `take` runs.
    this.#awaited.set(key, resolve);
    try {
      if (this.take(key, "low")) return true;
      if (this.#all.isOver) return false;
      await promise;
      return this.take(key, "low");
    } finally {
      this.#awaited.delete(key);
    }
  }

  /** Removes `key`, which has nothing to write, and returns its permit if it has one. */
  drop(key: string): void {
    this.#waiting.delete(key);
    if (this.#granted.delete(key)) this.giveBack();
  }

  /** Returns a permit that was taken and not used. */
  giveBack(): void {
    this.#all.giveBack();
  }

  /** Grants a permit to the next key. */
  grantNext(): void {
    const key = this.#waiting.take();
    if (key === undefined) return;
    this.#granted.add(key);
    const awaited = this.#awaited.get(key);
    if (awaited === undefined) this.#options.onGranted?.(key);
    else awaited();
  }

  /** Removes all keys and returns their permits. */
  clear(): void {
    this.#waiting.clear();
    for (const key of this.#granted) this.drop(key);
    for (const awaited of this.#awaited.values()) awaited();
  }
}

/** One time of leadership: what the leader elector gives to everything that only the leader does. */
export interface Leadership {
  /** Aborted for an orderly end: nothing new starts, and running writes finish. */
  readonly stop: AbortSignal;
  /** Aborted when the leadership is lost: running writes are aborted, and nothing more is sent. */
  readonly abort: AbortSignal;
  /**
   * Reports whether this process may write now, by the clock. Callers check it right before each write, because a process
   * that was suspended wakes up before its timers report the loss. Once false, it stays false, and `abort` is aborted.
   */
  readonly valid: () => boolean;
}

/** Returns a leadership that lasts until `stop`: for a process without leader election, which cannot lose it. */
export function soleLeadership(stop: AbortSignal): Leadership {
  return { stop, abort: new AbortController().signal, valid: () => true };
}
