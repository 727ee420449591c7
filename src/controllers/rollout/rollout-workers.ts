import type { Caches } from "../../cache/cluster-cache.ts";
import type { StoreChange } from "../../cache/store/store.ts";
import type { Config } from "../../domain/config/digest.ts";
import { namespaceOf, type Workload, workloadKey } from "../../domain/model/workload-shape.ts";
import type { Judged } from "../../domain/plan/verdict.ts";
import { sharedString } from "../../domain/syntax/json.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import { runAll } from "../../lib/run-all.ts";
import type { Priority } from "../../runtime/fair-queue.ts";
import { resync } from "../../runtime/timers.ts";
import type { Urgency } from "../../runtime/work-queue.ts";
import { Workers } from "../../runtime/workers.ts";
import type { LeaderController, LeaderParts } from "../leader-context.ts";
import { BatchQueue } from "./batches/batch-queue.ts";
import { AlertGate, type AlertGateOptions, type GateOptions, needsAlerts } from "./gate/alert-gate.ts";
import {
  rememberRequest,
  rememberSeenChange,
  rememberUnpinned,
  rememberUnsettledChange,
  rolloutBackoff,
} from "./memory/finish.ts";
import { isSettling } from "./memory/pacing-memory.ts";
import { RememberedViews } from "./memory/remembered-views.ts";
import { judgedNow, WorkloadMemories } from "./memory/workload-memories.ts";
import { NewPodsWatch } from "./new-pods/new-pods-watch.ts";
import { writeLastNotes } from "./note-state.ts";
import type { ReconcileOptions } from "./plan-workload.ts";
import { EventOutbox } from "./report/event-outbox.ts";
import { OutcomeReport } from "./report/outcome-report.ts";
import {
  type ConfigEventOptions,
  postConfigEvent,
  postReturn,
  reportHalt,
  reportUnvalidated,
} from "./report/report-halt.ts";
import { countRollouts, type RolloutGauges, type RolloutMetrics } from "./report/rollout-metrics.ts";
import { priorityOf, type RolloutLoop, runWorkload } from "./rollout-loop.ts";

/** What {@link RolloutWorkers} need for one leadership. */
export interface RolloutWorkersOptions
  extends Omit<ReconcileOptions, "views" | "newPods" | "alerts" | "reading">,
    LeaderParts<"random" | "permits">,
    Pick<RolloutLoop, "onWaiting"> {
  readonly caches: ReconcileOptions["caches"] &
    Pick<Caches, "lostSince" | "undecided" | "workloads" | "workloadsIn" | "workloadsReading">;
  readonly recorder: EventRecorder;
  readonly metrics: RolloutMetrics;
  /** The period of the resync, in which every workload is reconciled once, in milliseconds; 0: no resync. */
  readonly syncPeriodMs: number;
  readonly workers: number;
  readonly alertGate?: GateOptions | undefined;
}

/** How long the last Events may take when the leadership ends. */
const lastEventsMs = 1_000;

/** The share of the workers that one namespace may occupy: its writes may take as long as its admission webhooks. */
const shareOfNamespace = 0.8;

/**
 * The queue of workloads, its workers, and a memory of each workload, for one leadership. Nothing of it outlives the
 * leadership: another leader may have written after it.
 */
export class RolloutWorkers implements LeaderController {
  readonly #options: RolloutWorkersOptions;
  readonly #workers: Workers;
  readonly #outbox: EventOutbox;
  readonly #configEvents: ConfigEventOptions;
  readonly #loop: RolloutLoop;

  constructor(options: RolloutWorkersOptions) {
    const { clock, random, recorder, leadership, permits, metrics, log, workers, policy, alertGate, onWaiting } =
      options;
    const { post } = this;
    const flags = policy.pacing;
    const memories = new WorkloadMemories();
    this.#options = options;
    this.#workers = new Workers({
      clock,
      random,
      workers,
      flowOf: namespaceOf,
      workersPerFlow: Math.ceil(workers * shareOfNamespace),
      backoff: rolloutBackoff,
      urgencyOf: (key) => priorityOf(memories.get(key)),
      reconcile: (key) => runWorkload(key, this.#loop),
    });
    const again = (key: string, urgency: Urgency) => this.#workers.add(key, { urgency });
    this.#outbox = new EventOutbox({
      recorder,
      mayWrite: () => !leadership.abort.aborted && leadership.valid(),
      writesWait: () => this.#workers.depth > 0,
      onDropped: metrics.countDroppedEvent,
    });
    this.#configEvents = { client: options.client, post, signal: leadership.abort };
    const newPods = new NewPodsWatch({
      ...options,
      watchMs: flags.rolloutTimeoutMs,
      lastWrite: (workload) => {
        const { lastWrite } = memories.get(workloadKey(workload))?.findings ?? {};
        return lastWrite?.uid === workload.uid ? lastWrite : undefined;
      },
      onChange: (key) => this.#enqueue(key, "low"),
    });
    const newPodsOf = (workload: Workload) => newPods.of(workload);
    const views = new RememberedViews(metrics.countDroppedView);
    const gate = alertGate && new AlertGate({ ...alertGate, clock, log, ...this.#ofGate() });
    const alerts = gate && ((namespace: string) => gate.of(namespace));
    this.#loop = {
      memories,
      permits: permits.of("rollouts", { flowOf: namespaceOf, onGranted: (key) => again(key, "next") }),
      notePermits: permits.of("housekeeping", { flowOf: namespaceOf, onGranted: (key) => again(key, "low") }),
      newPods,
      gate,
      batches:
        flags.maxConcurrent === 0
          ? undefined
          : new BatchQueue({
              ...options,
              flags,
              memory: (key) => memories.get(key),
              newPods: newPodsOf,
              onCanary: (key) => newPods.watch(key),
              onChange: again,
              onUnvalidated: (change) => void reportUnvalidated(change, this.#configEvents),
              onHalted: (change) => void reportHalt(change, { ...this.#configEvents, log }),
            }),
      report: new OutcomeReport({
        post,
        random,
        onReturn: (workload, names) => postReturn(workload, names, this.#configEvents),
        metrics,
        clock,
        log,
      }),
      reconciling: { ...options, views, newPods: newPodsOf, alerts, reading: new Set() },
      random,
      again,
      onWaiting,
    };
  }

  /** The number of workloads that wait for a permit. */
  get waiting(): number {
    return this.#loop.permits.waiting;
  }

  get observed(): RolloutGauges {
    return {
      depth: this.#workers.depth,
      delayed: this.#workers.delayed,
      permits: this.waiting,
      events: this.#outbox.waiting,
      views: this.#loop.reconciling.views.entries,
      halted: this.#loop.batches?.halted ?? 0,
      ...countRollouts(this.#options.caches.workloads(), this.#loop.newPods, this.#options.clock.wall()),
      workloads: this.#loop.memories.values(),
    };
  }

  /** Returns up to when every change is judged; undefined if Wave only observes, and so publishes no verdicts. */
  judged(): Judged | undefined {
    if (this.#options.policy.pacing.observe) return undefined;
    return judgedNow(this.#loop.memories, this.#options);
  }

  /** Returns the names of the missing objects that a workload waits for, as its last decision has them; undefined if it does not wait. */
  waitingFor(key: string): string | undefined {
    return this.#loop.memories.get(key)?.blockers?.waitingFor;
  }

  /** Accepts an Event of any controller. It waits for its turn, so that Events delay no writes. */
  readonly post = (event: ObjectEvent): void => this.#outbox.post(event);

  /** Enqueues a workload that has just changed. Single changes go before those of a list: at the start, or after a gap in the watch. */
  onWorkloadChange({ key, initial }: Pick<StoreChange<Workload>, "key" | "initial">): void {
    if (!initial) rememberSeenChange(this.#loop.memories.of(key), this.#options.clock.monotonic());
    this.#enqueue(key, initial ? "low" : "high");
  }

  /** Receives a workload with a Pod that reads no copy although its template names copies. */
  podsUnpinned(key: string): void {
    const { uid, pinned } = this.#options.caches.workload(key) ?? {};
    const memory = this.#loop.memories.of(key);
    if (uid === undefined || pinned === undefined) return;
    rememberUnpinned(memory, { uid, pinned });
    this.#enqueue(key, "low");
  }

  /** Enqueues the readers of an object that has just changed. */
  onConfigChange(change: StoreChange<Config>): void {
    const { caches, clock } = this.#options;
    const readers = [...caches.workloadsReading(change.key)];
    this.#loop.batches?.configChanged(change, readers);
    const { after } = change;
    if (after?.misused !== undefined && after.misused !== change.before?.misused) {
      const event = { type: "Warning", reason: "InvalidAnnotation", message: after.misused } as const;
      void postConfigEvent(after, event, this.#configEvents);
    }
    const now = clock.monotonic();
    const isEdit = change.before !== undefined && change.after !== undefined;
    for (const key of readers) {
      const memory = this.#loop.memories.of(key);
      // Configuration for which Pods may be waiting does not settle.
      if (memory.state !== "waiting") rememberUnsettledChange(memory, now, change);
      // A settling workload is reconciled when it has settled, however many edits there are until then.
      if (!isEdit || !isSettling(memory, now)) this.onWorkloadChange({ key, initial: change.initial });
    }
  }

  #ofGate(): Pick<AlertGateOptions, "isNeeded" | "onChange"> {
    return {
      isNeeded: () => {
        const { policy, clock } = this.#options;
        const [flags, now] = [policy.pacing, clock.monotonic()];
        return this.#loop.memories.values().some((memory) => needsAlerts(memory, flags, now));
      },
      onChange: (isChanged) => {
        for (const [key, { hold }] of this.#loop.memories) {
          if (hold?.reason === "alertsUnknown") this.#enqueue(key, "high");
          else if (isChanged(namespaceOf(key))) this.#enqueue(key, "low");
        }
      },
    };
  }

  /** Enqueues all workloads, or those of one namespace. */
  onNamespaceChange(namespace?: string): void {
    for (const key of this.#keys(namespace)) this.#enqueue(key, "low");
  }

  #enqueue(key: string, urgency: Priority): void {
    rememberRequest(this.#loop.memories.of(key), this.#options.clock.monotonic());
    this.#workers.add(key, { urgency });
  }

  /**
   * Reconciles every workload once, and then each enqueued workload. After `stop` nothing new starts: resolves when the
   * running writes are done, and their Events or one second later. After `abort` they are aborted: resolves at once.
   */
  async run(): Promise<void> {
    const { leadership, syncPeriodMs, clock } = this.#options;
    const enqueue = (key: string) => this.#workers.add(key, { urgency: "low" });
    await runAll(leadership.stop, (signal) => {
      signal.addEventListener("abort", () => this.#close(), { once: true });
      if (signal.aborted) this.#close();
      // Nothing is judged before the first run.
      for (const key of this.#keys()) {
        rememberRequest(this.#loop.memories.of(key), Number.NEGATIVE_INFINITY);
        enqueue(key);
      }
      const keys = () => this.#keys();
      return [
        this.#workers.run(signal),
        this.#loop.newPods.run(signal),
        ...(this.#loop.gate ? [this.#loop.gate.run(signal)] : []),
        resync({ periodMs: syncPeriodMs, keys, enqueue, clock, signal }),
      ];
    });
    await writeLastNotes(this.#loop.memories, this.#options);
    // The next leader starts only after this. Owners may have made as many Events as can wait.
    await this.#outbox.closeWithin(lastEventsMs, clock, leadership.abort);
  }

  #close(): void {
    this.#workers.close();
    this.#loop.batches?.close();
  }

  /** The same string objects as in the memories: a resync holds all of them. */
  *#keys(namespace?: string): Iterable<string> {
    const { caches } = this.#options;
    const workloads = namespace === undefined ? caches.workloads() : caches.workloadsIn(namespace);
    for (const workload of workloads) yield sharedString(workloadKey(workload));
  }
}
