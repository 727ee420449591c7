import type { Caches, StoreChange } from "../../cache/caches.ts";
import type { PodLists } from "../../cache/live/listed-pods.ts";
import type { Config } from "../../domain/config/digest.ts";
import { isSchedulingHeld } from "../../domain/model/scheduling-hold.ts";
import { namespaceOf, type Workload, workloadKey } from "../../domain/model/workload.ts";
import { failedAlertOf } from "../../domain/pacing/failed-alert.ts";
import { holdRows } from "../../domain/pacing/holds.ts";
import { isFlapping } from "../../domain/pacing/interval.ts";
import { rolloutResult } from "../../domain/pacing/rollout-result.ts";
import type { Judged } from "../../domain/plan/judged.ts";
import type { ClusterPolicy } from "../../domain/policy/cluster-policy.ts";
import { unpaced } from "../../domain/policy/pacing-flags.ts";
import { sharedString } from "../../domain/syntax/shared-string.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import { runAll } from "../../lib/run-all.ts";
import type { Priority } from "../../runtime/fair-queue.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import type { Result } from "../../runtime/result.ts";
import { resync } from "../../runtime/resync.ts";
import { Workers } from "../../runtime/workers.ts";
import type { ControllerPermits, WritePermits } from "../../runtime/write-permits.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { type BatchQueue, createBatchQueue } from "./batches/batch-queue.ts";
import type { LiveReads } from "./freshness/live-reads.ts";
import { AlertGate, type AlertGateOptions, type GateOptions, queryPeriodMs } from "./gate/alert-gate.ts";
import {
  type FinishedRun,
  finish,
  hasNewChanges,
  rememberRequest,
  rememberSeenChange,
  rememberUnpinned,
  rememberUnsettledChange,
  startRun,
} from "./memory/finish.ts";
import { judgedNow } from "./memory/judged-now.ts";
import type { ReconcileOutcome } from "./memory/outcome.ts";
import { holdAfter, isSettling, momentOf, type RolloutWrite } from "./memory/pacing-memory.ts";
import { RememberedViews } from "./memory/remembered-views.ts";
import { checkBy, resultOf, rolloutBackoff } from "./memory/requeue.ts";
import { type RolloutEnd, trackEnd, trackStart } from "./memory/rollout-end.ts";
import { WorkloadMemories } from "./memory/workload-memories.ts";
import { type Findings, findingsOf, type WorkloadMemory, type Writable } from "./memory/workload-memory.ts";
import { writeLastNotes } from "./mixed-pods/last-notes.ts";
import { NewPodsWatch } from "./new-pods/new-pods-watch.ts";
import { type ReconcileOptions, reconcile } from "./reconcile.ts";
import { EventOutbox } from "./report/event-outbox.ts";
import { EventReporter } from "./report/event-reporter.ts";
import { misusedEvent, returnedChangeEvent } from "./report/event-texts.ts";
import { OutcomeReport } from "./report/outcome-report.ts";
import { type ConfigEventOptions, postConfigEvent } from "./report/post-config-event.ts";
import { reportHalt, reportUnvalidated } from "./report/report-halt.ts";
import type { RolloutGauges, RolloutMetrics } from "./report/rollout-metrics.ts";

/** What {@link RolloutWorkers} need. */
export interface RolloutWorkersOptions {
  readonly client: Pick<ApiClient, "request" | "stream">;
  readonly leadership: Leadership;
  readonly caches: Pick<
    Caches,
    | "copiesIn"
    | "kinds"
    | "lookup"
    | "lostSince"
    | "syncedUpTo"
    | "absentSince"
    | "undecided"
    | "workload"
    | "workloads"
    | "workloadsIn"
    | "workloadsReading"
  >;
  readonly live: LiveReads;
  readonly pods: PodLists;
  readonly policy: ClusterPolicy;
  readonly readHashKeys?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** The permits of this leadership, which all controllers share. They are closed when it ends. */
  readonly permits: WritePermits;
  readonly recorder: EventRecorder;
  readonly metrics: RolloutMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  readonly syncPeriodMs: number;
  readonly workers: number;
  readonly webhooks: boolean;
  readonly random: () => number;
  /** The alert gate. Default: none. */
  readonly alertGate?: GateOptions | undefined;
  /** Receives the namespace of a workload with a scheduling hold that waits for missing objects, after each of its runs. */
  readonly onWaiting: (namespace: string) => void;
}

/** How long the last Events may take when the leadership ends. */
const lastEventsMs = 1_000;

/** Limit of the ConfigMaps on which one return is reported. The Event on the workload names the number of all of them. */
const maxConfigEvents = 5;

/** The share of the workers that one namespace may occupy: its writes may take as long as its admission webhooks. */
const shareOfNamespace = 0.8;

/**
 * The queue of workloads, its workers, and a memory of each workload, for one leadership. Nothing of it outlives the
 * leadership: another leader may have written after it.
 */
export class RolloutWorkers {
  readonly #options: RolloutWorkersOptions;
  readonly #memories = new WorkloadMemories();
  readonly #workers: Workers;
  readonly #permits: ControllerPermits;
  /** The permits of the notes on workloads, which come after all rollouts. */
  readonly #notePermits: ControllerPermits;
  readonly #newPods: NewPodsWatch;
  /** Undefined if there is no alert gate. */
  readonly #gate: AlertGate | undefined;
  /** Undefined if batches are off. */
  readonly #batches: BatchQueue | undefined;
  readonly #outbox: EventOutbox;
  readonly #views: RememberedViews;
  readonly #reconciling: ReconcileOptions;
  readonly #report: OutcomeReport;
  readonly #configEvents: ConfigEventOptions;

  constructor(options: RolloutWorkersOptions) {
    const { clock, random, recorder, leadership, permits, metrics, log, workers } = options;
    this.#options = options;
    this.#workers = new Workers({
      clock,
      random,
      workers,
      flowOf: namespaceOf,
      workersPerFlow: Math.ceil(workers * shareOfNamespace),
      backoff: rolloutBackoff,
      urgencyOf: (key) => priorityOf(this.#memories.get(key)),
      reconcile: (key) => this.#run(key, this.#memories.of(key)),
    });
    this.#permits = permits.of("rollouts", {
      flowOf: namespaceOf,
      onGranted: (key) => this.#workers.add(key, { urgency: "next" }),
    });
    this.#notePermits = permits.of("housekeeping", {
      flowOf: namespaceOf,
      onGranted: (key) => this.#workers.add(key, { urgency: "low" }),
    });
    this.#outbox = new EventOutbox({
      recorder,
      mayWrite: () => !leadership.abort.aborted && leadership.valid(),
      writesWait: () => this.#workers.depth > 0,
      onDropped: metrics.countDroppedEvent,
    });
    const newPods = (workload: Workload) => this.#newPods.of(workload);
    this.#newPods = new NewPodsWatch({
      ...options,
      watchMs: (options.policy.pacing ?? unpaced).rolloutTimeoutMs,
      lastWrite: (workload) => lastWriteOf(this.#memories.get(workloadKey(workload)), workload),
      onChange: (key) => this.#enqueue(key, "low"),
    });
    this.#views = new RememberedViews(metrics.countDroppedView);
    const { post } = this;
    this.#batches = createBatchQueue(options, {
      memory: (key) => this.#memories.get(key),
      newPods,
      onCanary: (key) => this.#newPods.watch(key),
      onChange: (key, urgency) => this.#workers.add(key, { urgency }),
      onUnvalidated: (change) => void reportUnvalidated(change, this.#configEvents),
      onHalted: (change) => void reportHalt(change, { ...options, signal: leadership.abort, post }),
    });
    const { alertGate } = options;
    this.#gate = alertGate && new AlertGate({ ...alertGate, clock, log, ...this.#ofGate() });
    const alerts = this.#gate && ((namespace: string) => this.#gate?.of(namespace) ?? { state: "none" as const });
    this.#reconciling = { ...options, views: this.#views, newPods, alerts, reading: new Set() };
    const eventReporter = new EventReporter({ post, clock, random });
    this.#report = new OutcomeReport({ eventReporter, metrics, clock, log });
    this.#configEvents = { client: options.client, post, signal: leadership.abort };
  }

  /** The values of the gauges. */
  get observed(): RolloutGauges {
    return {
      depth: this.#workers.depth,
      delayed: this.#workers.delayed,
      waitingForPermit: this.#permits.waiting,
      waitingEvents: this.#outbox.waiting,
      viewEntries: this.#views.entries,
      haltedChanges: this.#batches?.halted ?? 0,
      ...this.#rollouts(),
      workloads: this.#memories.all(),
    };
  }

  /** Returns up to when every change is judged; undefined if Wave only observes, and so publishes no verdicts. */
  judged(): Judged | undefined {
    const { caches, policy, clock } = this.#options;
    if (policy.pacing?.observe) return undefined;
    return judgedNow({
      memories: this.#memories.entries(),
      namespaces: policy.namespaces,
      undecided: caches.undecided(),
      lostSince: caches.lostSince(),
      now: clock.monotonic(),
      wall: clock.wall(),
    });
  }

  /** Returns the names of the missing objects that a workload waits for, as its last decision has them; undefined if it does not wait. */
  waitingFor(key: string): string | undefined {
    return this.#memories.get(key)?.blockers?.waitingFor;
  }

  /** Counts the rollouts that failed, those that are stuck, and those that never end because their configuration keeps changing. */
  #rollouts(): Pick<RolloutGauges, "failedRollouts" | "stuckRollouts" | "flapping"> {
    let [failedRollouts, stuckRollouts, flapping] = [0, 0, 0];
    const moment = { now: this.#options.clock.wall(), lastWrite: undefined };
    for (const workload of this.#options.caches.workloads()) {
      if (isFlapping(workload, moment)) flapping++;
      const shown = this.#newPods.of(workload)?.state;
      if (shown === "stuck") stuckRollouts++;
      else if (workload.progress.state === "failed" || shown === "restarts" || shown === "exited") failedRollouts++;
      else if (failedAlertOf(workload, moment) !== undefined) failedRollouts++;
    }
    return { failedRollouts, stuckRollouts, flapping };
  }

  /** Accepts an Event of any controller. It waits for its turn, so that Events delay no writes. */
  readonly post = (event: ObjectEvent): void => this.#outbox.post(event);

  /** Enqueues a workload because of a change that was just seen. A change from a list is `low`. */
  workloadChanged(key: string, priority: Priority): void {
    if (priority === "high") rememberSeenChange(this.#memories.of(key), this.#options.clock.monotonic());
    this.#enqueue(key, priority);
  }

  /** Receives a workload with a Pod that reads no copy although its template names copies. */
  podsUnpinned(key: string): void {
    const { uid, pinned } = this.#options.caches.workload(key) ?? {};
    const memory = this.#memories.of(key);
    if (uid === undefined || pinned === undefined) return;
    rememberUnpinned(memory, { uid, pinned });
    this.#enqueue(key, "low");
  }

  /** Enqueues the readers of an object that has just changed. */
  configChanged(change: StoreChange<Config>, priority: Priority): void {
    const { caches, clock } = this.#options;
    this.#batches?.configChanged(change);
    const { after } = change;
    if (after?.misused !== undefined && after.misused !== change.before?.misused)
      void postConfigEvent(after, misusedEvent(after.misused), this.#configEvents);
    const now = clock.monotonic();
    const isEdit = change.before !== undefined && change.after !== undefined;
    for (const key of caches.workloadsReading(change.key)) {
      const memory = this.#memories.of(key);
      // Configuration for which Pods may be waiting does not settle.
      if (memory.state !== "waiting") rememberUnsettledChange(memory, now, change);
      // A settling workload is reconciled when it has settled, however many edits there are until then.
      if (!isEdit || !isSettling(memory, now)) this.workloadChanged(key, priority);
    }
  }

  #ofGate(): Pick<AlertGateOptions, "isNeeded" | "onChange"> {
    return {
      isNeeded: () => this.#memories.entries().some(([, memory]) => this.#waitsOrRolls(memory)),
      onChange: (isChanged) => {
        for (const [key, { hold }] of this.#memories.entries()) {
          if (hold?.reason === "alertsUnknown") this.#enqueue(key, "high");
          else if (isChanged(namespaceOf(key))) this.#enqueue(key, "low");
        }
      },
    };
  }

  /** Reports whether the alerts of a namespace matter for a workload: its rollout may start soon, is in progress, or soaks. */
  #waitsOrRolls({ hold, reportedRollout, progress }: WorkloadMemory): boolean {
    if (hold !== undefined) return hold.reason === "alert" || holdRows[hold.reason].isShort;
    if (reportedRollout?.state === "inProgress" || reportedRollout?.state === "stuck") return true;
    const { clock, policy } = this.#options;
    // One more query after the soak time.
    const soakMs = (policy.pacing ?? unpaced).soakMs + queryPeriodMs;
    return progress?.step === "complete" && clock.monotonic() < progress.since + soakMs;
  }

  /** Enqueues all workloads, or those of one namespace. */
  enqueueAll(namespace?: string): void {
    for (const key of this.#keys(namespace)) this.#enqueue(key, "low");
  }

  #enqueue(key: string, urgency: Priority): void {
    rememberRequest(this.#memories.of(key), this.#options.clock.monotonic());
    this.#workers.add(key, { urgency });
  }

  /**
   * Reconciles every workload once, and then each enqueued workload. After `stop` nothing new starts: resolves when the
   * running writes are done, and their Events or one second later. After `abort` they are aborted: resolves at once.
   */
  async run(): Promise<void> {
    const { leadership, syncPeriodMs, clock } = this.#options;
    const over = AbortSignal.any([leadership.stop, leadership.abort]);
    const enqueue = (key: string) => this.#workers.add(key, { urgency: "low" });
    await runAll(over, (signal) => {
      signal.addEventListener("abort", () => this.#close(), { once: true });
      if (signal.aborted) this.#close();
      // Nothing is judged before the first run.
      for (const key of this.#keys()) {
        rememberRequest(this.#memories.of(key), Number.NEGATIVE_INFINITY);
        enqueue(key);
      }
      const keys = () => this.#keys();
      return [
        this.#workers.run(signal),
        this.#newPods.run(signal),
        ...(this.#gate ? [this.#gate.run(signal)] : []),
        resync({ periodMs: syncPeriodMs, keys, enqueue, clock, signal }),
      ];
    });
    const spans = Iterator.from(this.#memories.entries()).flatMap(([key, { mixed }]) => {
      return mixed?.spans === undefined ? [] : [[key, mixed.spans] as const];
    });
    await writeLastNotes(spans, this.#options);
    // The next leader starts only after this. Owners may have made as many Events as can wait.
    await this.#outbox.closeWithin(lastEventsMs, clock, leadership.abort);
  }

  #close(): void {
    this.#workers.close();
    this.#batches?.close();
  }

  /** The same string objects as in the memories: a resync holds all of them. */
  *#keys(namespace?: string): Iterable<string> {
    const { caches } = this.#options;
    const workloads = namespace === undefined ? caches.workloads() : caches.workloadsIn(namespace);
    for (const workload of workloads) yield sharedString(workloadKey(workload));
  }

  /** Reports on ConfigMaps that a workload does not read their last change any more, because its rollout failed. */
  #reportReturn(workload: Workload, names: readonly string[]): void {
    const { namespace } = workload;
    for (const name of names.slice(0, maxConfigEvents))
      void postConfigEvent({ kind: "ConfigMap", namespace, name }, returnedChangeEvent(workload), this.#configEvents);
  }

  /** Returns the end of the last rollout of a workload after a run, if it is news. */
  #endOfRollout(
    memory: WorkloadMemory,
    findings: Writable<Findings>,
    outcome: ReconcileOutcome,
  ): RolloutEnd | undefined {
    trackStart(findings, outcome);
    if (outcome.type !== "done" || outcome.plan.outcome === "ignore") return undefined;
    const { clock, policy } = this.#options;
    const { workload } = outcome;
    const flags = policy.pacing ?? unpaced;
    const now = clock.wall();
    const moment = { ...momentOf(memory, findings, workload, clock), newPods: this.#newPods.of(workload) };
    const result = rolloutResult(workload, flags, moment);
    const end = trackEnd(findings, workload, result, now, flags.rolloutTimeoutMs);
    if (
      result?.state === "inProgress" &&
      findings.reportedRollout?.state === "inProgress" &&
      Number.isFinite(result.failsAt)
    )
      checkBy(findings, clock.monotonic() + result.failsAt - now);
    return end;
  }

  /** One run: start, plan from a copy, effects, one `finish`. */
  async #run(key: string, memory: WorkloadMemory): Promise<Result> {
    const { clock, random } = this.#options;
    const priority = priorityOf(memory);
    const start = startRun(memory);
    const batch = this.#batches?.startRun(key);
    const findings = findingsOf(memory);
    const slowAt = this.#newPods.watchIfSlow(key);
    let noteWaits = false;
    const current = {
      key,
      memory,
      findings,
      takePermit: () => this.#permits.take(key, priority),
      returnPermit: () => this.#permits.giveBack(),
      takeNotePermit: () => {
        noteWaits = !this.#notePermits.take(key, "low");
        return !noteWaits;
      },
      batchHold: batch?.holdOf ?? (() => undefined),
      isBatchBehind: batch?.isBehind ?? (() => false),
    };
    let ended: Pick<FinishedRun, "outcome" | "hold" | "blockers">;
    try {
      const outcome = await reconcile(current, this.#reconciling);
      if (slowAt !== undefined && slowAt > clock.monotonic()) checkBy(findings, slowAt);
      const hold = holdAfter(memory.hold, outcome, clock);
      const end = this.#endOfRollout(memory, findings, outcome);
      const failure = findings.reportedRollout?.failure;
      const blockers = this.#report.ended(memory, start, outcome, hold, { end, failure });
      if (outcome.type === "written" && outcome.plan.returned !== undefined)
        this.#reportReturn(outcome.before, outcome.plan.returned);
      ended = { outcome, hold, blockers };
    } catch (error) {
      this.#report.failed(key, memory, error);
      ended = { outcome: "bug", hold: memory.hold, blockers: memory.blockers };
    }
    const { outcome } = ended;
    finish(memory, { ...ended, start, findings, now: clock.monotonic() });
    if (hasNewChanges(memory, start)) this.#workers.add(key, { urgency: priority });
    batch?.ended(outcome);
    if (this.#waitsOrRolls(memory)) this.#gate?.wake();
    if (outcome !== "bug" && outcome.type === "done" && outcome.plan.outcome === "waiting") {
      const { workload } = outcome;
      if (isSchedulingHeld(workload)) this.#options.onWaiting(workload.namespace);
    }
    const type = outcome === "bug" ? outcome : outcome.type;
    if (type !== "permitPending") this.#permits.drop(key);
    if (!noteWaits) this.#notePermits.drop(key);
    if (type === "gone") {
      this.#views.forget(key);
      this.#memories.delete(key);
    }
    return resultOf(memory, outcome, clock.monotonic(), random);
  }
}

/** Returns the last rollout that this process wrote to a workload; undefined if it wrote none. */
function lastWriteOf(memory: WorkloadMemory | undefined, { uid }: Workload): RolloutWrite | undefined {
  return memory?.lastWrite?.uid === uid ? memory.lastWrite : undefined;
}

/** Single changes go first, also when they are retried. */
function priorityOf(memory: WorkloadMemory | undefined): Priority {
  return memory?.changeSeenAt === undefined ? "low" : "high";
}
