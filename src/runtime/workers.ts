// The runtime: queues, retries, rate limits and leadership. It knows keys and times, but no Kubernetes kind.
import { setImmediate } from "node:timers/promises";
import { runAll } from "../lib/run-all.ts";
import type { ProcessContext } from "../telemetry/process-context.ts";
import { backoffMs } from "./timers.ts";
import { type Urgency, WorkQueue } from "./work-queue.ts";

/** What {@link Workers} need. */
interface WorkersOptions extends Pick<ProcessContext, "clock" | "random"> {
  /** The number of keys that run at once. */
  readonly workers: number;
  /** Returns the flow of a key, such as its namespace. The flows are served round-robin. */
  readonly flowOf: (key: string) => string;
  /** The number of keys of one flow that run at once. Default: no limit. */
  readonly workersPerFlow?: number;
  /** The delays of retries, in milliseconds. They start at `baseMs` and double up to `retryMaxMs`, or to the maximum of a result. */
  readonly backoff: { readonly baseMs: number; readonly retryMaxMs: number };
  /** Returns the urgency of a key that runs again. Default: "high". */
  readonly urgencyOf?: (key: string) => Urgency;
  /**
   * Runs one key; `failures` is the number of its consecutive failures so far. A key never runs twice at once. A rejected
   * promise is a bug: it ends all workers.
   */
  readonly reconcile: (key: string, failures: number) => Promise<Result>;
}

/** A queue of keys and the workers that run them. */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #queue: WorkQueue;
  readonly #retries: Retries;

  constructor(options: WorkersOptions) {
    const { clock, random, flowOf, workersPerFlow, backoff } = options;
    this.#options = options;
    this.#queue = new WorkQueue({
      clock,
      flowOf,
      ...(workersPerFlow !== undefined && { mostOfFlow: workersPerFlow }),
    });
    this.#retries = new Retries({ baseMs: backoff.baseMs, random });
  }

  /** The number of keys that a worker could run now. */
  get depth(): number {
    return this.#queue.depth;
  }

  /** The number of keys that wait for their time. */
  get delayed(): number {
    return this.#queue.delayed;
  }

  /** Enqueues `key`, now or after `delayMs`. Has no effect after `close`. */
  add(key: string, options?: { readonly urgency?: Urgency; readonly delayMs?: number }): void {
    this.#queue.add(key, options);
  }

  /** Drops all keys that do not run yet, and ends each worker after the key that it runs. */
  close(): void {
    this.#queue.close();
  }

  /** Runs keys until `signal` is aborted, and resolves when the last run has ended. Rejects if `reconcile` rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await runAll(signal, (both) => {
      both.addEventListener("abort", () => this.close(), { once: true });
      if (both.aborted) this.close();
      return Array.from({ length: this.#options.workers }, () => this.#work());
    });
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.get(); key !== undefined; key = await this.#queue.get()) {
      const result = await this.#options.reconcile(key, this.#retries.failuresOf(key));
      this.#finish(key, result);
      this.#queue.done(key);
      // A run that sends no request awaits nothing: without this, all runs of a start would come before any I/O.
      await setImmediate();
    }
  }

  /** The only place that maps a result to the queue. */
  #finish(key: string, result: Result): void {
    switch (result.type) {
      case "done":
        this.#retries.succeeded(key);
        return;
      case "requeueAfter":
        this.#retries.succeeded(key);
        this.#requeue(key, result.delayMs);
        return;
      case "deferred":
        if (result.delayMs !== undefined) this.#requeue(key, result.delayMs);
        return;
      case "retry": {
        const { maxMs = this.#options.backoff.retryMaxMs, atLeastMs = 0 } = result;
        const delayMs = this.#retries.failed(key, this.#options.clock.monotonic(), maxMs);
        this.#requeue(key, Math.max(atLeastMs, delayMs));
        return;
      }
    }
  }

  #requeue(key: string, delayMs: number): void {
    const { urgencyOf } = this.#options;
    this.#queue.add(key, { delayMs, ...(urgencyOf && { urgency: urgencyOf(key) }) });
  }
}

/** Timers may fire this many milliseconds early. */
const timerToleranceMs = 5;

/** The consecutive failures of one key. */
interface FailedKey {
  readonly failures: number;
  /** When the key is retried, in monotonic milliseconds. */
  readonly retryAt: number;
}

/**
 * The consecutive failures of each key, and the backoff that follows from them. A failure before the time of the retry is
 * not added: a user who edits while a write is refused does not make it wait longer once the write is allowed.
 */
export class Retries {
  readonly #baseMs: number;
  readonly #random: () => number;
  readonly #keys = new Map<string, FailedKey>();

  /** The first delay is about `baseMs` milliseconds. `random` returns numbers in [0, 1). */
  constructor({ baseMs, random }: { readonly baseMs: number; readonly random: () => number }) {
    this.#baseMs = baseMs;
    this.#random = random;
  }

  /** Returns the number of consecutive failures of `key`; 0 after a success. */
  failuresOf(key: string): number {
    return this.#keys.get(key)?.failures ?? 0;
  }

  /** Records a failure at `now` and returns the delay of the next try: it doubles with each failure, up to `maxMs`. */
  failed(key: string, now: number, maxMs: number): number {
    const before = this.#keys.get(key);
    const isOnTime = before === undefined || now >= before.retryAt - timerToleranceMs;
    const failures = (before?.failures ?? 0) + (isOnTime ? 1 : 0);
    const delayMs = backoffMs(failures - 1, { baseMs: this.#baseMs, maxMs, random: this.#random });
    this.#keys.set(key, { failures, retryAt: now + delayMs });
    return delayMs;
  }

  /** Forgets the failures of `key`. */
  succeeded(key: string): void {
    this.#keys.delete(key);
  }
}

/**
 * How one run of a key ended, in the manner of controller-runtime's `reconcile.Result`
 * (https://pkg.go.dev/sigs.k8s.io/controller-runtime/pkg/reconcile). {@link Workers} maps each to the queue.
 */
export type Result =
  /** Nothing is left to do until the key is added again. Its failures are forgotten. */
  | { readonly type: "done" }
  /** The run succeeded, and the key runs again after this time. Its failures are forgotten. */
  | { readonly type: "requeueAfter"; readonly delayMs: number }
  /**
   * The run was not due yet. The key runs again after `delayMs`, or when another part of the process adds it, for example
   * with a write permit. Its failures are kept.
   */
  | { readonly type: "deferred"; readonly delayMs?: number }
  /** The run failed: retried with backoff, after `atLeastMs` at the earliest. The delay grows up to `maxMs`; default: `backoff.retryMaxMs`. */
  | { readonly type: "retry"; readonly atLeastMs?: number; readonly maxMs?: number };

/** Nothing is left to do. */
export const done: Result = { type: "done" };
