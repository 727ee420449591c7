import { setImmediate } from "node:timers/promises";
import type { Caches } from "../cache/caches.ts";
import type { ApiClient } from "../kube/client.ts";
import type { EventRecorder } from "../kube/event-recorder.ts";
import type { Clock } from "../lib/clock.ts";
import type { Priority } from "../lib/fair-queue.ts";
import type { TokenBucket } from "../lib/token-bucket.ts";
import { WorkQueue } from "../lib/work-queue.ts";
import type { Policy } from "../rollout/policy/policy.ts";
import { sharedString } from "../rollout/shared-string.ts";
import { namespaceOf, workloadKey } from "../rollout/workload.ts";
import type { Logger } from "../telemetry/log.ts";
import { Announcer } from "./announcer.ts";
import { EventOutbox } from "./event-outbox.ts";
import type { Leadership } from "./leadership.ts";
import type { LiveReads } from "./live-reads.ts";
import type { Outcome } from "./outcome.ts";
import { OutcomeReport } from "./outcome-report.ts";
import { plannedAgainMs } from "./planned-again.ts";
import { type ReconcileOptions, reconcile } from "./reconciler.ts";
import { RememberedViews } from "./remembered-views.ts";
import { resync } from "./resync.ts";
import type { Observed, RolloutMetrics } from "./rollout-metrics.ts";
import { Turns } from "./turns.ts";
import { newRecord, type WorkloadRecord } from "./workload-record.ts";

/** What a {@link Term} works with. */
export interface TermOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly leadership: Leadership;
  readonly caches: Pick<Caches, "lookup" | "heardUpTo" | "workload" | "workloads">;
  readonly live: LiveReads;
  readonly policy: Policy;
  readonly readHashKeys?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly tokens: TokenBucket;
  readonly recorder: EventRecorder;
  readonly metrics: RolloutMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  readonly syncPeriodMs: number;
  readonly workers: number;
  readonly random: () => number;
}

/** How long the last Events are waited for when a term ends. */
const tellingMs = 1_000;

/** How much of the workers one namespace may occupy: its writes may take as long as the webhooks that they pass. */
const mostOfNamespace = 0.8;

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
  readonly #views: RememberedViews;
  readonly #reconciling: ReconcileOptions;
  readonly #report: OutcomeReport;

  constructor(options: TermOptions) {
    const { clock, random, recorder, leadership, tokens, metrics, log, workers } = options;
    this.#options = options;
    this.#queue = new WorkQueue({ clock, flowOf: namespaceOf, mostOfFlow: Math.ceil(workers * mostOfNamespace) });
    this.#turns = new Turns({ clock, tokens, onGiven: (key) => this.#queue.add(key, { urgency: "next" }) });
    this.#outbox = new EventOutbox({
      recorder,
      mayWrite: () => !leadership.abort.aborted && leadership.valid(),
      writesWait: () => this.#queue.depth > 0,
      onDropped: metrics.countDroppedEvent,
    });
    this.#views = new RememberedViews(() => this.#records.values(), metrics.countDroppedView);
    this.#reconciling = { ...options, views: this.#views };
    const announcer = new Announcer({ post: (event) => this.#outbox.post(event), clock, random });
    this.#report = new OutcomeReport({ announcer, metrics, clock, log });
  }

  /** What the metrics show. */
  get observed(): Observed {
    return {
      depth: this.#queue.depth,
      delayed: this.#queue.delayed,
      waitingForTurn: this.#turns.waiting,
      waitingEvents: this.#outbox.waiting,
      viewEntries: this.#views.entries,
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

  /** Asks for every workload to be planned. */
  planAll(): void {
    for (const key of this.#keys()) this.#queue.add(key, { urgency: "low" });
  }

  /**
   * Plans every workload once and then those that are asked for. After `stop` nothing more is taken: resolves when the
   * writes in flight are done, and their Events or a second later. After `abort` they are aborted: resolves at once.
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
    this.planAll();
    const resyncing = resync({ periodMs: syncPeriodMs, keys: () => this.#keys(), enqueue, clock, signal: over });
    await Promise.all([...Array.from({ length: workers }, () => this.#work()), resyncing]);
    await this.#tellTheRest();
  }

  /** Nobody else leads before this has ended, and people may have made as many Events as can wait. */
  async #tellTheRest(): Promise<void> {
    const { leadership, clock } = this.#options;
    const { promise: tooLong, resolve } = Promise.withResolvers<void>();
    const cancel = clock.timer(tellingMs, resolve);
    await Promise.race([this.#outbox.drained(), aborted(leadership.abort), tooLong]);
    cancel();
    this.#outbox.close();
  }

  /** The strings that the records have: resync holds all of them. */
  *#keys(): Iterable<string> {
    for (const workload of this.#options.caches.workloads()) yield sharedString(workloadKey(workload));
  }

  /** The one place where records are made; `#conclude` drops them. */
  #record(key: string): WorkloadRecord {
    const known = this.#records.get(key);
    if (known !== undefined) return known;
    const made = newRecord();
    this.#records.set(sharedString(key), made);
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
    const turn = {
      takeTurn: () => this.#turns.take(key, priority),
      giveBackTurn: () => this.#turns.giveBack(),
    };
    try {
      const outcome = await reconcile({ key, record, ...turn }, this.#reconciling);
      this.#report.ended(record, outcome, seenAt);
      this.#conclude(key, record, outcome, seenAt);
    } catch (error) {
      this.#report.failed(key, record, error);
      this.#conclude(key, record, "bug", seenAt);
    }
  }

  /** What each outcome means to queue, turns and record. */
  #conclude(key: string, record: WorkloadRecord, outcome: Outcome | "bug", seenAt: number | undefined): void {
    const { clock, random } = this.#options;
    const type = outcome === "bug" ? outcome : outcome.type;
    if (type !== "paced") this.#turns.drop(key);
    if (type === "gone") {
      this.#views.forget(record);
      this.#records.delete(key);
      return;
    }
    if (type !== "settled" && type !== "written") record.seenAt = seenAt ?? record.seenAt;
    const delayMs = plannedAgainMs(record, outcome, clock.monotonic(), random);
    if (delayMs !== undefined) this.#queue.add(key, { urgency: priorityOf(record), delayMs });
  }
}

/** What a single change asked for goes first, also when it is tried again. */
function priorityOf({ seenAt }: WorkloadRecord): Priority {
  return seenAt === undefined ? "low" : "high";
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
