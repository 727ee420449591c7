import { setImmediate } from "node:timers/promises";
import type { Caches } from "../cache/caches.ts";
import type { ApiClient } from "../kube/client.ts";
import type { EventRecorder } from "../kube/event-recorder.ts";
import { backoffMs } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import type { Priority } from "../lib/fair-queue.ts";
import type { TokenBucket } from "../lib/token-bucket.ts";
import { WorkQueue } from "../lib/work-queue.ts";
import type { Policy } from "../rollout/policy.ts";
import { namespaceOf, workloadKey } from "../rollout/workload.ts";
import { errorText } from "../telemetry/error-text.ts";
import type { Logger } from "../telemetry/log.ts";
import { Announcer } from "./announcer.ts";
import { EventOutbox } from "./event-outbox.ts";
import type { Leadership } from "./leadership.ts";
import type { Outcome } from "./outcome.ts";
import { reconcile } from "./reconciler.ts";
import { resync } from "./resync.ts";
import { type Observed, type RolloutMetrics, settledState, type WorkloadState } from "./rollout-metrics.ts";
import { Turns } from "./turns.ts";
import { newRecord, type WorkloadRecord } from "./workload-record.ts";

/** What a {@link Term} works with. */
export interface TermOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly leadership: Leadership;
  readonly caches: Pick<Caches, "lookup" | "workload" | "workloads">;
  readonly policy: Policy;
  readonly tokens: TokenBucket;
  readonly recorder: EventRecorder;
  readonly metrics: RolloutMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  readonly syncPeriodMs: number;
  readonly workers: number;
  readonly random: () => number;
}

/** How long a workload waits after a failure, doubling with each. */
const backoff = { baseMs: 200, maxMs: 300_000 };

/**
 * One term of leading: workers that take the keys of workloads from a queue, and a record of each workload. Nothing of
 * it outlives the term: others may have written after it.
 */
export class Term {
  readonly #options: TermOptions;
  readonly #records = new Map<string, WorkloadRecord>();
  readonly #queue: WorkQueue;
  readonly #turns: Turns;
  readonly #outbox: EventOutbox;
  readonly #announcer: Announcer;
  /** Whether the API server could not answer since it last took a write. */
  #unavailable = false;

  constructor(options: TermOptions) {
    const { clock, random, recorder, leadership, tokens, metrics } = options;
    this.#options = options;
    this.#queue = new WorkQueue({ clock, flowOf: namespaceOf });
    this.#turns = new Turns({ clock, tokens, onGiven: (key) => this.#queue.add(key, { urgency: "next" }) });
    this.#outbox = new EventOutbox({
      recorder,
      mayWrite: () => !leadership.abort.aborted && leadership.valid(),
      writesWait: () => this.#queue.depth > 0,
      onDropped: metrics.countDroppedEvent,
    });
    this.#announcer = new Announcer({ post: (event) => this.#outbox.post(event), clock, random });
  }

  /** What the metrics show. */
  get observed(): Observed {
    return {
      depth: this.#queue.depth,
      delayed: this.#queue.delayed,
      waitingForTurn: this.#turns.waiting,
      waitingEvents: this.#outbox.waiting,
      states: this.#records.values().flatMap(({ state }) => (state === undefined ? [] : [state])),
    };
  }

  /**
   * Asks for a workload to be planned because of a change that was just seen, and not within `settleMs` whatever else
   * asks for it; changes that follow within that time do not make it longer. A change that a list brought is `low`.
   */
  changed(key: string, priority: Priority, settleMs = 0): void {
    const record = this.#record(key);
    const now = this.#options.clock.monotonic();
    if (priority === "high") record.seenAt ??= now;
    // One that waits for its turn has settled, and is planned at once: it may have nothing to write any more.
    if (settleMs > 0 && record.settlesUntil <= now && !this.#turns.has(key)) record.settlesUntil = now + settleMs;
    this.#queue.add(key, { urgency: priority, delayMs: Math.max(0, record.settlesUntil - now) });
  }

  /**
   * Plans every workload once and then those that are asked for. After `stop` nothing more is taken: resolves when the
   * writes in flight and their Events are done. After `abort` they are aborted: resolves at once.
   */
  async run(): Promise<void> {
    const { leadership, workers, syncPeriodMs, clock } = this.#options;
    const over = AbortSignal.any([leadership.stop, leadership.abort]);
    const close = () => {
      this.#queue.close();
      this.#turns.close();
    };
    over.addEventListener("abort", close, { once: true });
    if (over.aborted) close();
    const enqueue = (key: string) => this.#queue.add(key, { urgency: "low" });
    for (const key of this.#keys()) enqueue(key);
    const resyncing = resync({ periodMs: syncPeriodMs, keys: () => this.#keys(), enqueue, clock, signal: over });
    await Promise.all([...Array.from({ length: workers }, () => this.#work()), resyncing]);
    await Promise.race([this.#outbox.drained(), aborted(leadership.abort)]);
  }

  *#keys(): Iterable<string> {
    for (const workload of this.#options.caches.workloads()) yield workloadKey(workload);
  }

  /** The one place where records are made; `#conclude` drops them. */
  #record(key: string): WorkloadRecord {
    const known = this.#records.get(key);
    if (known !== undefined) return known;
    const made = newRecord();
    this.#records.set(key, made);
    return made;
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.next(); key !== undefined; key = await this.#queue.next()) {
      await this.#run(key, this.#record(key));
      this.#queue.done(key);
      // A plan that asks for no write awaits no answer: without this, all of a start's plans would run before any I/O.
      await setImmediate();
    }
  }

  async #run(key: string, record: WorkloadRecord): Promise<void> {
    const settlesMs = record.settlesUntil - this.#options.clock.monotonic();
    const priority = priorityOf(record);
    if (settlesMs > 0) {
      this.#turns.drop(key);
      return this.#queue.add(key, { urgency: priority, delayMs: settlesMs });
    }
    const { seenAt } = record;
    record.seenAt = undefined;
    const takeTurn = () => this.#turns.take(key, priority);
    try {
      this.#conclude(key, record, await reconcile({ key, record, takeTurn }, this.#options), seenAt);
    } catch (error) {
      const stack = error instanceof Error ? error.stack : undefined;
      const level = firstTime(record, "bug") ? "error" : "debug";
      this.#options.log[level](`bug: cannot plan ${key}, trying again later: ${errorText(error)}`, { stack });
      this.#turns.drop(key);
      this.#tryAgain(key, record, "failed", seenAt);
    }
  }

  /** What each outcome means to queue, turns, Events, metrics and log. */
  #conclude(key: string, record: WorkloadRecord, outcome: Outcome, seenAt: number | undefined): void {
    const { metrics, clock } = this.#options;
    switch (outcome.type) {
      case "settled": {
        const { workload, plan } = outcome;
        this.#turns.drop(key);
        this.#announcer.settled(record, workload, plan);
        if (plan.outcome === "waiting" && record.state !== "waiting") metrics.count(workload, "waiting");
        this.#succeed(key, record, settledState(plan.outcome));
        this.#log("debug", "planned", workload, { outcome: plan.outcome, reason: plan.reason });
        return;
      }
      case "written": {
        const { before, plan } = outcome;
        this.#unavailable = false;
        this.#turns.drop(key);
        this.#announcer.written(record, before, plan);
        metrics.count(before, "written");
        if (seenAt !== undefined) metrics.observeDuration(before.kind, clock.monotonic() - seenAt);
        this.#succeed(key, record, "unchanged");
        this.#log("info", "patched", before, { outcome: plan.outcome, reason: plan.reason });
        return;
      }
      case "paced":
        record.seenAt = seenAt ?? record.seenAt;
        record.state = "pending";
        return;
      case "gone":
        this.#turns.drop(key);
        this.#records.delete(key);
        return;
      case "conflict":
        metrics.count(outcome.workload, "conflict");
        this.#log("debug", "changed while it was planned, trying again", outcome.workload);
        this.#tryAgain(key, record, "pending", seenAt);
        return;
      case "refused":
        metrics.count(outcome.workload, "failed");
        this.#announcer.refused(outcome.workload, outcome.message);
        this.#log(
          firstTime(record, "refused") ? "warn" : "debug",
          "cannot patch, trying again later",
          outcome.workload,
          {
            error: outcome.message,
          },
        );
        this.#tryAgain(key, record, "failed", seenAt);
        return;
      case "unavailable":
        metrics.count(outcome.workload, "unavailable");
        // Once for all workloads: they fail of the same.
        this.#log(this.#unavailable ? "debug" : "warn", "cannot patch, trying again", outcome.workload, {
          error: outcome.message,
        });
        this.#unavailable = true;
        this.#tryAgain(key, record, "pending", seenAt, outcome.retryAfterMs);
        return;
      case "stopped":
        // Nothing is lost where the term goes on all the same; where it is over, so is the queue.
        this.#turns.drop(key);
        this.#tryAgain(key, record, "pending", seenAt);
        return;
    }
  }

  #succeed(key: string, record: WorkloadRecord, state: WorkloadState): void {
    record.failures = 0;
    record.logged = undefined;
    record.state = state;
    if (record.standing === undefined) return;
    this.#queue.add(key, {
      urgency: "low",
      delayMs: Math.max(0, record.standing.tellAgainAt - this.#options.clock.monotonic()),
    });
  }

  #tryAgain(
    key: string,
    record: WorkloadRecord,
    state: WorkloadState,
    seenAt: number | undefined,
    atLeastMs = 0,
  ): void {
    record.seenAt = seenAt ?? record.seenAt;
    record.state = state;
    const delayMs = Math.max(atLeastMs, backoffMs(record.failures++, { ...backoff, random: this.#options.random }));
    this.#queue.add(key, { urgency: priorityOf(record), delayMs });
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

/** What a single change asked for goes first, also when it is tried again. */
function priorityOf({ seenAt }: WorkloadRecord): Priority {
  return seenAt === undefined ? "low" : "high";
}

/** Whether this trouble is to be logged: once until the workload succeeds, for its owner decides how often it fails. */
function firstTime(record: WorkloadRecord, what: "refused" | "bug"): boolean {
  const first = record.logged !== what;
  record.logged = what;
  return first;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
