import { setImmediate } from "node:timers/promises";
import type { Caches, StoreChange } from "../../cache/caches.ts";
import type { Config } from "../../domain/config/digest.ts";
import { namespaceOf, workloadKey } from "../../domain/model/workload.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { sharedString } from "../../domain/syntax/shared-string.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Priority } from "../../runtime/fair-queue.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { resync } from "../../runtime/resync.ts";
import type { TokenBucket } from "../../runtime/token-bucket.ts";
import { WorkQueue } from "../../runtime/work-queue.ts";
import { WritePermits } from "../../runtime/write-permits.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { type BatchQueue, batchQueue } from "./batches/batch-queue.ts";
import { tellOfHalt } from "./batches/halted-objects.ts";
import type { LiveReads } from "./freshness/live-reads.ts";
import { type ReconcileOptions, reconcile } from "./reconciler.ts";
import type { Outcome } from "./record/outcome.ts";
import { isSettling, noteChange, notePlanned } from "./record/pacing-record.ts";
import { RememberedViews } from "./record/remembered-views.ts";
import type { WorkloadRecord } from "./record/workload-record.ts";
import { WorkloadRecords } from "./record/workload-records.ts";
import { EventOutbox } from "./report/event-outbox.ts";
import { EventReporter } from "./report/event-reporter.ts";
import { OutcomeReport } from "./report/outcome-report.ts";
import type { Observed, RolloutMetrics } from "./report/rollout-metrics.ts";
import { requeueAfterMs } from "./requeue.ts";

/** What a {@link Term} works with. */
export interface TermOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly leadership: Leadership;
  readonly caches: Pick<Caches, "lookup" | "heardUpTo" | "workload" | "workloads" | "workloadsIn" | "workloadsReading">;
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
  readonly #records = new WorkloadRecords();
  readonly #queue: WorkQueue;
  readonly #permits: WritePermits;
  /** Undefined where waves are off. */
  readonly #batches: BatchQueue | undefined;
  readonly #outbox: EventOutbox;
  readonly #views: RememberedViews;
  readonly #reconciling: ReconcileOptions;
  readonly #report: OutcomeReport;

  constructor(options: TermOptions) {
    const { clock, random, recorder, leadership, tokens, metrics, log, workers } = options;
    this.#options = options;
    this.#queue = new WorkQueue({ clock, flowOf: namespaceOf, mostOfFlow: Math.ceil(workers * mostOfNamespace) });
    this.#permits = new WritePermits({
      clock,
      tokens,
      flowOf: namespaceOf,
      onGiven: (key) => this.#queue.add(key, { urgency: "next" }),
    });
    this.#outbox = new EventOutbox({
      recorder,
      mayWrite: () => !leadership.abort.aborted && leadership.valid(),
      writesWait: () => this.#queue.depth > 0,
      onDropped: metrics.countDroppedEvent,
    });
    this.#views = new RememberedViews(() => this.#records.all(), metrics.countDroppedView);
    const post = (event: ObjectEvent) => this.#outbox.post(event);
    this.#batches = batchQueue(options, {
      record: (key) => this.#records.get(key),
      onChange: (key, urgency) => this.#queue.add(key, { urgency }),
      onHalted: (change) => void tellOfHalt(change, { ...options, signal: leadership.abort, post }),
    });
    this.#reconciling = { ...options, views: this.#views };
    const eventReporter = new EventReporter({ post, clock, random });
    this.#report = new OutcomeReport({ eventReporter, metrics, clock, log });
  }

  /** What the metrics show. */
  get observed(): Observed {
    return {
      depth: this.#queue.depth,
      delayed: this.#queue.delayed,
      waitingForPermit: this.#permits.waiting,
      waitingEvents: this.#outbox.waiting,
      viewEntries: this.#views.entries,
      haltedChanges: this.#batches?.halted ?? 0,
      workloads: this.#records.all(),
    };
  }

  /** Asks for a workload to be planned because of a change that was just seen. A change that a list brought is `low`. */
  changed(key: string, priority: Priority): void {
    if (priority === "high") this.#records.of(key).seenAt ??= this.#options.clock.monotonic();
    this.#ask(key, priority);
  }

  /** Asks for those to be planned who read an object that has just changed. */
  configChanged(change: StoreChange<Config>, priority: Priority): void {
    const { caches, clock } = this.#options;
    this.#batches?.configChanged(change);
    const now = clock.monotonic();
    const isEdit = change.before !== undefined && change.after !== undefined;
    for (const key of caches.workloadsReading(change.key)) {
      const record = this.#records.of(key);
      // What Pods may be waiting for does not settle.
      if (record.state !== "waiting") noteChange(record, now);
      // One that settles is planned when that ends, however many edits there are until then.
      if (!isEdit || !isSettling(record, now)) this.changed(key, priority);
    }
  }

  /** Asks for every workload to be planned, or for those of one namespace. */
  planAll(namespace?: string): void {
    for (const key of this.#keys(namespace)) this.#ask(key, "low");
  }

  #ask(key: string, urgency: Priority): void {
    this.#records.of(key).asked++;
    this.#queue.add(key, { urgency });
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
      this.#permits.close();
      this.#batches?.close();
    };
    over.addEventListener("abort", close, { once: true });
    if (over.aborted) close();
    const enqueue = (key: string) => this.#queue.add(key, { urgency: "low" });
    this.planAll();
    const resyncing = resync({ periodMs: syncPeriodMs, keys: () => this.#keys(), enqueue, clock, signal: over });
    await Promise.all([...Array.from({ length: workers }, () => this.#work()), resyncing]);
    // Nobody else leads before this has ended, and people may have made as many Events as can wait.
    await this.#outbox.closeWithin(tellingMs, clock, leadership.abort);
  }

  /** The strings that the records have: resync holds all of them. */
  *#keys(namespace?: string): Iterable<string> {
    const { caches } = this.#options;
    const workloads = namespace === undefined ? caches.workloads() : caches.workloadsIn(namespace);
    for (const workload of workloads) yield sharedString(workloadKey(workload));
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.next(); key !== undefined; key = await this.#queue.next()) {
      await this.#run(key, this.#records.of(key));
      this.#queue.done(key);
      // A plan that asks for no write awaits no answer: without this, all of a start's plans would run before any I/O.
      await setImmediate();
    }
  }

  async #run(key: string, record: WorkloadRecord): Promise<void> {
    const priority = priorityOf(record);
    const { seenAt, asked, changes } = record;
    record.seenAt = undefined;
    const turn = {
      takeTurn: () => this.#permits.take(key, priority),
      giveBackTurn: () => this.#permits.giveBack(),
    };
    const batch = this.#batches?.planned(key);
    let outcome: Outcome | "bug" = "bug";
    try {
      outcome = await reconcile({ key, record, batch: batch?.holdOf, ...turn }, this.#reconciling);
      notePlanned(record, outcome, changes, this.#options.clock);
      this.#report.ended(record, outcome, seenAt);
    } catch (error) {
      outcome = "bug";
      this.#report.failed(key, record, error);
    }
    record.planned = asked;
    // A change that was seen meanwhile asked for nothing if the workload was settling then.
    if (record.changes !== undefined && record.changes !== changes) this.#queue.add(key, { urgency: priority });
    batch?.ended(outcome);
    this.#conclude(key, record, outcome, seenAt);
  }

  /** What each outcome means to queue, turns and record. */
  #conclude(key: string, record: WorkloadRecord, outcome: Outcome | "bug", seenAt: number | undefined): void {
    const { clock, random } = this.#options;
    const type = outcome === "bug" ? outcome : outcome.type;
    if (type !== "paced") this.#permits.drop(key);
    if (type === "gone") {
      this.#views.forget(record);
      this.#records.delete(key);
      return;
    }
    const isDone = (type === "settled" || type === "written") && record.hold?.reason !== "settling";
    if (!isDone) record.seenAt = seenAt ?? record.seenAt;
    const delayMs = requeueAfterMs(record, outcome, clock.monotonic(), random);
    if (delayMs !== undefined) this.#queue.add(key, { urgency: priorityOf(record), delayMs });
  }
}

/** What a single change asked for goes first, also when it is tried again. */
function priorityOf({ seenAt }: WorkloadRecord): Priority {
  return seenAt === undefined ? "low" : "high";
}
