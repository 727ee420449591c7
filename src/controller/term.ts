import { setImmediate } from "node:timers/promises";
import type { Caches } from "../cache/caches.ts";
import type { EventRecorder } from "../kube/event-recorder.ts";
import type { Clock } from "../lib/clock.ts";
import { type Priority, WorkQueue } from "../lib/work-queue.ts";
import { workloadKey } from "../rollout/workload.ts";
import { errorText } from "../telemetry/error-text.ts";
import type { Logger } from "../telemetry/log.ts";
import { Announcer } from "./announcer.ts";
import { EventOutbox } from "./event-outbox.ts";
import type { Leadership } from "./leadership.ts";
import type { Outcome } from "./outcome.ts";
import type { Reconciler } from "./reconciler.ts";
import { resync } from "./resync.ts";
import { type Observed, type RolloutMetrics, settledState, type WorkloadState } from "./rollout-metrics.ts";
import { Settling } from "./settling.ts";

/** What a {@link Term} works with. */
export interface TermOptions {
  readonly leadership: Leadership;
  readonly caches: Pick<Caches, "workloads">;
  readonly reconciler: Pick<Reconciler, "reconcile">;
  readonly recorder: EventRecorder;
  readonly metrics: RolloutMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  readonly syncPeriodMs: number;
  readonly workers: number;
  readonly random: () => number;
}

/**
 * One term of leading: workers that take the keys of workloads from a queue, and everything that is remembered of these
 * workloads meanwhile. Nothing of it outlives the term: others may have written after it.
 */
export class Term {
  readonly #options: TermOptions;
  readonly #queue: WorkQueue;
  readonly #outbox: EventOutbox;
  readonly #announcer: Announcer;
  readonly #settling: Settling;
  readonly #states = new Map<string, WorkloadState>();
  /** When the first change was seen that is not written yet, on the monotonic clock. */
  readonly #seenAt = new Map<string, number>();
  /** Whether the API server could not answer since it last took a write. */
  #unavailable = false;

  constructor(options: TermOptions) {
    const { clock, random, recorder, leadership } = options;
    this.#options = options;
    this.#queue = new WorkQueue({ clock, random });
    this.#settling = new Settling(clock);
    const mayWrite = () => !leadership.abort.aborted && leadership.valid();
    this.#outbox = new EventOutbox(recorder, mayWrite, () => this.#queue.depth > 0);
    this.#announcer = new Announcer((event) => this.#outbox.post(event));
  }

  /** What the metrics show. */
  get observed(): Observed {
    return { depth: this.#queue.depth, delayed: this.#queue.delayed, states: this.#states.values() };
  }

  /**
   * Asks for a workload to be planned because of a change that was just seen, and not within `delayMs` whatever else
   * asks for it; a change that a list brought is `low`.
   */
  changed(key: string, priority: Priority, delayMs = 0): void {
    if (priority === "high" && !this.#seenAt.has(key)) this.#seenAt.set(key, this.#options.clock.monotonic());
    this.#settling.begin(key, delayMs);
    this.#queue.add(key, { priority, delayMs });
  }

  /**
   * Plans every workload once and then those that are asked for. After `stop` nothing more is taken: resolves when the
   * writes in flight and their Events are done. After `abort` they are aborted: resolves at once.
   */
  async run(): Promise<void> {
    const { leadership, workers, syncPeriodMs, clock } = this.#options;
    const over = AbortSignal.any([leadership.stop, leadership.abort]);
    const close = () => this.#queue.close();
    over.addEventListener("abort", close, { once: true });
    if (over.aborted) close();
    for (const key of this.#keys()) this.#queue.add(key, { priority: "low" });
    const enqueue = (key: string) => this.#queue.add(key, { priority: "low" });
    const resyncing = resync({ periodMs: syncPeriodMs, keys: () => this.#keys(), enqueue, clock, signal: over });
    await Promise.all([...Array.from({ length: workers }, () => this.#work()), resyncing]);
    await Promise.race([this.#outbox.drained(), aborted(leadership.abort)]);
  }

  *#keys(): Iterable<string> {
    for (const workload of this.#options.caches.workloads()) yield workloadKey(workload);
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.next(); key !== undefined; key = await this.#queue.next()) {
      const settlesMs = this.#settling.remaining(key);
      if (settlesMs > 0) {
        this.#queue.add(key, { delayMs: settlesMs });
        this.#queue.done(key);
        continue;
      }
      const seenAt = this.#seenAt.get(key);
      this.#seenAt.delete(key);
      try {
        this.#conclude(key, await this.#options.reconciler.reconcile(key, this.#options.leadership), seenAt);
      } catch (error) {
        const stack = error instanceof Error ? error.stack : undefined;
        this.#options.log.error(`bug: cannot plan ${key}, trying again later: ${errorText(error)}`, { stack });
        this.#states.set(key, "failed");
        this.#queue.retry(key);
      } finally {
        this.#queue.done(key);
      }
      // A plan that asks for no write awaits no answer: without this, all of a start's plans would run before any I/O.
      await setImmediate();
    }
  }

  /** What each outcome means to queue, Events, metrics and log. */
  #conclude(key: string, outcome: Outcome, seenAt: number | undefined): void {
    const { metrics, clock } = this.#options;
    switch (outcome.type) {
      case "settled": {
        const { workload, plan } = outcome;
        this.#queue.forget(key);
        this.#announcer.settled(workload, plan);
        if (plan.outcome === "waiting" && this.#states.get(key) !== "waiting") metrics.count(workload, "waiting");
        this.#states.set(key, settledState(plan.outcome));
        this.#log("debug", "planned", workload, { outcome: plan.outcome, reason: plan.reason });
        return;
      }
      case "written": {
        const { before, plan } = outcome;
        this.#queue.forget(key);
        this.#unavailable = false;
        this.#announcer.written(before, plan);
        metrics.count(before, "written");
        if (seenAt !== undefined) metrics.observeDuration(before.kind, clock.monotonic() - seenAt);
        this.#states.set(key, "unchanged");
        this.#log("info", "patched", before, { outcome: plan.outcome, reason: plan.reason });
        return;
      }
      case "paced":
        this.#keepSeen(key, seenAt);
        this.#states.set(key, "pending");
        this.#queue.add(key, { delayMs: outcome.waitMs });
        return;
      case "gone":
        this.#queue.forget(key);
        this.#announcer.forget(key);
        this.#states.delete(key);
        return;
      case "conflict":
        metrics.count(outcome.workload, "conflict");
        this.#tryAgain(key, seenAt, "pending");
        this.#log("debug", "changed while it was planned, trying again", outcome.workload);
        return;
      case "refused":
        metrics.count(outcome.workload, "failed");
        this.#announcer.refused(outcome.workload, outcome.message);
        this.#tryAgain(key, seenAt, "failed");
        this.#log("warn", "cannot patch, trying again later", outcome.workload, { error: outcome.message });
        return;
      case "unavailable":
        metrics.count(outcome.workload, "unavailable");
        this.#tryAgain(key, seenAt, "pending", outcome.retryAfterMs);
        // Once for all workloads: they fail of the same.
        this.#log(this.#unavailable ? "debug" : "warn", "cannot patch, trying again", outcome.workload, {
          error: outcome.message,
        });
        this.#unavailable = true;
        return;
      case "stopped":
        return;
    }
  }

  #tryAgain(key: string, seenAt: number | undefined, state: WorkloadState, atLeastMs = 0): void {
    this.#keepSeen(key, seenAt);
    this.#states.set(key, state);
    this.#queue.retry(key, { atLeastMs });
  }

  #keepSeen(key: string, seenAt: number | undefined): void {
    if (seenAt !== undefined) this.#seenAt.set(key, seenAt);
  }

  #log(
    level: "debug" | "info" | "warn",
    message: string,
    { kind, namespace, name }: { readonly kind: string; readonly namespace: string; readonly name: string },
    fields: Readonly<Record<string, string>> = {},
  ): void {
    this.#options.log[level](message, { kind, namespace, name, ...fields });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
