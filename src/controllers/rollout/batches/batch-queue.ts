import type { StoreChange } from "../../../cache/store/store.ts";
import type { Config } from "../../../domain/config/digest.ts";
import type { Lookup } from "../../../domain/config/view-of-references.ts";
import { namespaceOf } from "../../../domain/model/workload-shape.ts";
import type { Hold, RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import { type BatchAdmission, batchHold } from "../../../domain/pacing/batches.ts";
import {
  type AdmittedWorkload,
  type DerivedChange,
  deriveBatches,
  holdingChange,
} from "../../../domain/pacing/derive-batches.ts";
import { holdRows } from "../../../domain/pacing/holds.ts";
import { type ConfigName, configKey, parseConfigKey } from "../../../domain/references/references.ts";
import { longestTimerMs } from "../../../lib/clock.ts";
import type { Priority } from "../../../runtime/fair-queue.ts";
import type { ReconcileOutcome } from "../memory/outcome.ts";
import { type HaltedChange, type HaltReports, haltNews, type UnvalidatedChange } from "../report/report-halt.ts";
import { BatchFacts, type BatchFactsOptions } from "./batch-facts.ts";

/** What a {@link BatchQueue} needs. */
export interface BatchQueueOptions extends BatchFactsOptions {
  /** Enqueues a due workload: it is admitted now ("high"), or a halt begins or ends ("low"). */
  readonly onChange: (key: string, urgency: Priority) => void;
  /** Receives the key of each workload of a canary that rolls now, or soaks. */
  readonly onCanary: (key: string) => void;
  /** Reports the beginning or the end of a halt on its object. */
  readonly onHalted: (change: HaltedChange) => void;
  /** Reports on its object that a change goes on although a validator cannot check it. */
  readonly onUnvalidated: (change: UnvalidatedChange) => void;
}

/** One run of the reconciler, for the batches. */
export interface BatchRun {
  /** Returns the hold of the batches of these changes; undefined if all admit the workload. Called for each plan of the run, with its lookup. */
  readonly holdOf: (changed: readonly ConfigName[], lookup: Lookup) => Hold | undefined;
  /** Reports whether the last plan is for content that the caches do not have yet: the batches do not know this change. */
  readonly isBehind: () => boolean;
  readonly ended: (outcome: ReconcileOutcome) => void;
}

/** Events of a short time cause one sweep, and sweeps may take only a small part of the time. */
const minDelayMs = 20;
const readersPerMs = 20;

/** How long readers that must be planned first may delay a change, in milliseconds. */
const maxDelayMs = 10_000;

/** What is kept about the batches of one namespace while a workload is due or admitted. */
interface NamespaceBatches {
  /** The workloads that are due and held only by batches, with the objects whose changes made them due. */
  readonly due: Map<string, readonly string[]>;
  /** The workloads that were admitted, until they are written or have nothing to write. */
  readonly admitted: Map<string, AdmittedWorkload>;
  readonly changes: Map<string, ChangeState>;
  /** The next sweep, in monotonic milliseconds. */
  next: { readonly at: number; readonly cancel: () => void } | undefined;
  /** The cost of the last sweep, in readers. */
  cost: number;
}

interface ChangeState {
  /** The result of the last sweep; undefined before the first one. */
  admission: BatchAdmission | undefined;
  /** Since when it waits for a reader that must be planned first, in monotonic milliseconds; undefined if it does not wait. */
  waitingSince: number | undefined;
  readonly halt: HaltReports;
  /** The validator that was last reported as unusable, and the change: each is reported once. */
  unvalidated: string | undefined;
}

/**
 * The queue of workloads that are held only by batches. No worker waits, and nothing is polled: a due workload is added when it is planned. A
 * sweep of its namespace derives the batches again when an event may admit the workload, and enqueues the admitted ones. It remembers nothing that could
 * be lost: after a restart, due workloads are planned again, and the stage of the others follows from their state.
 */
export class BatchQueue {
  readonly #options: BatchQueueOptions;
  readonly #facts: BatchFacts;
  readonly #namespaces = new Map<string, NamespaceBatches>();

  constructor(options: BatchQueueOptions) {
    this.#options = options;
    this.#facts = new BatchFacts(options);
  }

  /** The number of halted changes, each one per namespace. */
  get halted(): number {
    const changes = this.#namespaces.values().flatMap((batches) => batches.changes.values());
    return changes.reduce((sum, { admission }) => sum + (admission?.halted ? 1 : 0), 0);
  }

  startRun(key: string): BatchRun {
    const namespace = namespaceOf(key);
    let changes: readonly string[] = [];
    let isBehind = false;
    return {
      holdOf: (changed, lookup) => {
        const objects = changed.filter((object) => this.#facts.hasFollowers(namespace, configKey(object)));
        changes = objects.map(configKey);
        isBehind = objects.some((object) => this.#facts.isBehind(object, lookup));
        return this.#holdOf(key, changes);
      },
      isBehind: () => isBehind,
      ended: (outcome) => this.#ended(key, changes, outcome),
    };
  }

  /** Remembers the change of an object. A reader that was admitted for its earlier content, and is not written yet, waits again. */
  configChanged(change: StoreChange<Config>, readers: readonly string[]): void {
    if (!this.#facts.configChanged(change) || this.#namespaces.size === 0) return;
    // Not all namespaces: thousands of them may wait, and a burst may edit an object in each of them.
    for (const key of readers) {
      const batches = this.#namespaces.get(namespaceOf(key));
      if (batches !== undefined) endAdmission(batches, key, change.key);
    }
  }

  /** Stops: no workload is admitted any more. */
  close(): void {
    for (const { next } of this.#namespaces.values()) next?.cancel();
    this.#namespaces.clear();
  }

  #holdOf(key: string, changes: readonly string[]): Hold | undefined {
    const namespace = namespaceOf(key);
    const batches = this.#namespaces.get(namespace);
    const admitted = batches?.admitted.get(key);
    if (changes.every((config) => admitted?.changes.includes(config))) return undefined;
    const config = holdingChange(key, changes, (each) => batches?.changes.get(each)?.admission) ?? changes[0] ?? "";
    const { admission, halt } = batches?.changes.get(config) ?? {};
    const hold = admission?.hold ?? batchHold(parseConfigKey(config), namespace, undefined);
    if (admission?.halted && halt !== undefined) return { ...hold, haltReportedAt: halt.reportedAt };
    // If that time is past, the next sweep decides.
    return hold.until !== undefined && hold.until <= this.#options.clock.wall() ? { ...hold, until: undefined } : hold;
  }

  #ended(key: string, changes: readonly string[], outcome: ReconcileOutcome): void {
    const namespace = namespaceOf(key);
    const isDue = outcome.type === "done" && isHeldByBatch(outcome.plan);
    const batches = isDue ? this.#in(namespace) : this.#namespaces.get(namespace);
    const isRolled = outcome.type === "written" && outcome.plan.outcome === "roll";
    const passed = changes.filter((config) => batches?.changes.get(config)?.admission?.canaryPassed);
    // If no other workload waits for the change, this one is its canary.
    if (isRolled && (changes.length === 0 || passed.length < changes.length)) this.#options.onCanary(key);
    if (batches === undefined) return;
    const wasIn = batches.due.has(key) || batches.admitted.has(key);
    const leaves = isDue || !isRetriedSoon(outcome);
    if (leaves) {
      batches.due.delete(key);
      batches.admitted.delete(key);
    }
    if (isDue) {
      batches.due.set(key, changes);
      for (const config of changes) {
        if (!batches.changes.has(config)) batches.changes.set(config, newChange());
      }
    }
    if (isDue || (wasIn && leaves) || this.#mayAffect(batches, key)) this.#sweepIn(minDelayMs, namespace, batches);
  }

  #in(namespace: string): NamespaceBatches {
    const known = this.#namespaces.get(namespace);
    if (known !== undefined) return known;
    const made = { due: new Map(), admitted: new Map(), changes: new Map(), next: undefined, cost: 0 };
    this.#namespaces.set(namespace, made);
    return made;
  }

  /** Reports whether the state of a workload may affect the batches: it reads a changed object, may match its name, or has halted a change. */
  #mayAffect({ changes }: NamespaceBatches, key: string): boolean {
    const workload = this.#options.caches.workload(key);
    if (workload === undefined || workload.peer?.patterns.length) return true;
    if (workload.references.some((reference) => changes.has(configKey(reference)))) return true;
    return changes.values().some(({ admission }) => admission?.halted && admission.failed.has(key));
  }

  /** Sweeps after this time or earlier. After a sweep of many readers, the next one comes later. */
  #sweepIn(ms: number, namespace: string, batches: NamespaceBatches): void {
    const { clock } = this.#options;
    const waitMs = Math.min(longestTimerMs, Math.ceil(Math.max(ms, minDelayMs, batches.cost / readersPerMs)));
    const at = clock.monotonic() + waitMs;
    if (batches.next !== undefined && batches.next.at <= at) return;
    batches.next?.cancel();
    const cancel = clock.timer(waitMs, () => {
      batches.next = undefined;
      this.#sweep(namespace, batches);
    });
    batches.next = { at, cancel };
  }

  /** Derives the batches of a namespace, and enqueues the workloads whose hold changes. Costs the readers of all its changes. */
  #sweep(namespace: string, batches: NamespaceBatches): void {
    const { clock, caches, policy, flags, onChange } = this.#options;
    const now = clock.monotonic();
    const { due, admitted, changes } = batches;
    const halted = [...changes].filter(([, { admission }]) => admission?.halted);
    const derived = deriveBatches({
      ...{ namespace, due, admitted, lookup: caches.lookup, hashKeys: policy.hashKeys, flags, now: clock.wall() },
      // The end of a halt is reported also if no workload waits any more: because of another edit, or because another hold applies now.
      also: halted.map(([config]) => config),
      readersOf: (config) => this.#facts.readersIn(namespace, config),
      factsOf: this.#facts.membersIn(namespace),
      changeOf: (config) => {
        const waitsForPlans = now < (changes.get(config)?.waitingSince ?? now) + maxDelayMs;
        return { ...this.#facts.changeOf(config), waitsForPlans };
      },
    });
    batches.cost = derived.cost;
    for (const config of derived.waiting) {
      const change = changes.get(config);
      if (change !== undefined) change.waitingSince ??= now;
    }
    for (const [config, change] of derived.changes) this.#update(batches, config, change);
    // All of one moment: no workload is admitted to a place that was taken since.
    for (const [key, workload] of derived.admitted) {
      due.delete(key);
      admitted.set(key, workload);
      onChange(key, "high");
    }
    const used = new Set(derived.waiting);
    for (const configs of due.values()) for (const config of configs) used.add(config);
    for (const workload of admitted.values()) for (const config of workload.changes) used.add(config);
    for (const config of changes.keys()) if (!used.has(config)) changes.delete(config);
    if (changes.size === 0) {
      this.#namespaces.delete(namespace);
      return;
    }
    if (derived.admitted.size > 0) this.#sweepIn(minDelayMs, namespace, batches);
    // A reader that must be planned first causes a sweep then.
    if (derived.waiting.length > 0) this.#sweepIn(maxDelayMs, namespace, batches);
    if (Number.isFinite(derived.nextCheckAt)) this.#sweepIn(derived.nextCheckAt - clock.wall(), namespace, batches);
  }

  /** Stores the result of a sweep for one change, and reports what changed. */
  #update(batches: NamespaceBatches, config: string, { change, admission }: DerivedChange): void {
    const { clock, onChange, onCanary, onHalted, onUnvalidated } = this.#options;
    const { due, admitted, changes } = batches;
    const state = changes.get(config);
    if (state === undefined) return;
    const wasHalted = state.admission?.halted ?? false;
    state.admission = admission;
    state.waitingSince = undefined;
    for (const key of admission.canary) onCanary(key);
    if (admission.halted && !wasHalted) for (const key of admitted.keys()) endAdmission(batches, key, config);
    if (admission.halted !== wasHalted) {
      for (const [key, of] of due) if (of.includes(config) && !admission.admitted.has(key)) onChange(key, "low");
    }
    const [validator] = admission.halted ? [] : admission.unusable;
    const unvalidated = validator && `${this.#facts.changeOf(config).changedAt} ${validator.key}`;
    if (validator !== undefined && unvalidated !== state.unvalidated) {
      state.unvalidated = unvalidated;
      onUnvalidated({ object: change.object, namespace: change.namespace, validator });
    }
    const news = haltNews(state.halt, admission, clock.monotonic());
    const refusal = admission.hold.reason === "validator" ? admission.hold.message : undefined;
    if (news !== undefined) onHalted({ object: change.object, namespace: change.namespace, refusal, ...news });
  }
}

/** Lets a workload wait again if it was admitted for the change of an object. An admitted workload may wait for a permit for minutes. */
function endAdmission({ due, admitted }: NamespaceBatches, key: string, config: string): void {
  const { changes } = admitted.get(key) ?? {};
  if (changes?.includes(config) && admitted.delete(key)) due.set(key, changes);
}

function newChange(): ChangeState {
  const halt = { reportedAt: Number.NEGATIVE_INFINITY, isReported: false, wasOpen: false };
  return { admission: undefined, waitingSince: undefined, halt, unvalidated: undefined };
}

function isHeldByBatch(plan: RolloutPlan): boolean {
  return plan.outcome === "held" && holdRows[plan.hold.reason].check === undefined;
}

function isRetriedSoon({ type }: ReconcileOutcome): boolean {
  return ["permitPending", "conflict", "unavailable", "stopped"].includes(type);
}
