import type { Hold } from "../../../domain/outcomes/hold.ts";
import type { ChangeTimes } from "../../../domain/pacing/batch-member.ts";
import { maxBlockRounds } from "../../../domain/pacing/partly-admitted.ts";
import type { ConfigName } from "../../../domain/references/references.ts";
import { longestTimerMs } from "../../../lib/clock.ts";
import type { Priority } from "../../../runtime/fair-queue.ts";
import { type BatchGroup, maxDelayMs } from "./batch-group.ts";
import type { BatchFacts } from "./batch-members.ts";
import { BatchPlaces } from "./batch-places.ts";
import type { HaltedChange } from "./halted-objects.ts";

/** What {@link NamespaceBatches} need. */
export interface NamespaceBatchesOptions extends BatchFacts {
  /** Returns the keys of the workloads of a namespace that read an object. */
  readonly readers: (namespace: string, config: string) => readonly string[];
  /** Returns when an object changed. */
  readonly changeOf: (object: ConfigName) => ChangeTimes;
  /** Enqueues a due workload: it is admitted now ("high"), or a halt begins or ends ("low"). */
  readonly onChange: (key: string, urgency: Priority) => void;
  /** Receives the key of each workload of a canary that rolls now, or soaks. */
  readonly onCanary: (key: string) => void;
  /** Reports the beginning or the end of a halt on its object. */
  readonly onHalted: (change: HaltedChange) => void;
}

/** Changes of a short time are computed together, and the computation may take only a small part of the time. */
const minDelayMs = 20;
const membersPerMs = 20;
/** As for the Events of workloads. */
const repeatAfterMs = 45 * 60_000;
/** A tenant whose rollouts fail and recover must not flood the other readers of the object with Events. */
const minReportIntervalMs = 60_000;

/**
 * Admits the workloads of a namespace to the batches of changes. It remembers nothing that could be lost: due workloads are
 * enqueued again, and the stage of the others follows from their state. A workload that is due for several changes is
 * admitted if all of them admit it; until then it takes no place in a batch.
 */
export class NamespaceBatches {
  readonly #namespace: string;
  readonly #options: NamespaceBatchesOptions;
  readonly #places: BatchPlaces;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;
  /** The number of members of the last computation. */
  #members = 0;
  /** The groups of halted changes, by the keys of their objects. */
  readonly #halted = new Map<string, BatchGroup>();

  constructor(namespace: string, options: NamespaceBatchesOptions) {
    this.#namespace = namespace;
    this.#options = options;
    this.#places = new BatchPlaces(namespace);
  }

  /** The number of halted changes. */
  get halted(): number {
    return this.#places.groups.values().reduce((sum, { isHalted }) => sum + (isHalted ? 1 : 0), 0);
  }

  /** Reports whether no workload is due or admitted: then nothing has to be kept. */
  get isIdle(): boolean {
    return this.#places.groups.size === 0;
  }

  /** Returns the hold of a workload that is due because these objects changed; undefined if it is admitted. */
  holdOf(key: string, configs: readonly string[]): Hold | undefined {
    if (this.#places.isAdmitted(key, configs)) return undefined;
    const { clock, flags } = this.#options;
    const groups = configs.map((config) => this.#places.groupOf(config));
    const holding = groups.filter(({ admitted }) => !admitted.has(key));
    const group = holding.find(({ isHalted }) => isHalted) ?? holding[0] ?? groups[0];
    const hold = group?.holdBy(flags);
    // If that time is past, the next computation decides.
    return hold?.until !== undefined && hold.until <= clock.wall() ? { ...hold, until: undefined } : hold;
  }

  /** Reports whether the canary of one of these changes has not passed, so that a workload that rolls now belongs to it. */
  rollsCanary(configs: readonly string[]): boolean {
    return configs.some((config) => !this.#places.groupOf(config).canaryPassed);
  }

  /** Adds a workload that is due because these objects changed, and held only by batches. */
  due(key: string, configs: readonly string[]): void {
    this.touch(this.#places.due(key, configs));
  }

  /** Removes a workload that is written, not due any more, held by another hold, or gone. */
  leave(key: string): void {
    this.touch(this.#places.leave(key));
    for (const [config, group] of this.#halted) {
      if (this.#places.groups.get(config) === group) continue;
      // No workload waits any more: because of another edit, or because another hold applies now.
      group.compute(
        this.#options.readers(this.#namespace, config),
        this.#options.changeOf(group.object),
        () => "none",
        this.#options,
      );
      this.#noteHalt(config, group);
      this.#halted.delete(config);
    }
  }

  /** Marks the changes of these objects stale: a workload that reads them may have changed. */
  touch(configs: Iterable<string>): void {
    if (this.#makeStale(configs)) this.#computeIn(Math.max(minDelayMs, this.#members / membersPerMs));
  }

  /** Marks all changes stale: a workload with unknown references may have changed. */
  touchAll(): void {
    this.touch(this.#places.groups.keys());
  }

  /** Stops: no workload is admitted any more. */
  close(): void {
    this.#timer?.cancel();
    this.#places.clear();
  }

  /** Returns the keys of the objects whose change is halted because of this workload, which may not read them any more. */
  haltedBy(key: string): readonly string[] {
    return [...this.#halted].flatMap(([config, { failed }]) => (failed.has(key) ? [config] : []));
  }

  #makeStale(configs: Iterable<string>): boolean {
    let any = false;
    for (const config of configs) {
      const group = this.#places.groups.get(config);
      if (group === undefined) continue;
      group.isStale = true;
      any = true;
    }
    return any;
  }

  /** Computes `ms` from now, or earlier. */
  #computeIn(ms: number): void {
    const { clock } = this.#options;
    const waitMs = Math.min(longestTimerMs, Math.max(1, Math.ceil(ms)));
    const at = clock.monotonic() + waitMs;
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#timer?.cancel();
    const cancel = clock.timer(waitMs, () => {
      this.#timer = undefined;
      this.#compute();
    });
    this.#timer = { at, cancel };
  }

  /** Computes who is admitted. Costs the members of the stale changes. */
  #compute(): void {
    const { clock, onChange } = this.#options;
    const { groups } = this.#places;
    this.#members = 0;
    this.#makeStale(this.#places.unblockAll());
    for (const [config, group] of groups) {
      if (group.isStale || group.nextCheckAt <= clock.wall()) this.#computeGroup(config, group);
    }
    // The rest waits for the next computation.
    for (let times = 0; times < maxBlockRounds && this.#blockPartlyAdmitted(); times++);
    // All of one moment: no workload is admitted to a place that was taken since.
    for (const key of this.#places.admittedByAll()) {
      this.touch(this.#places.admit(key));
      onChange(key, "high");
    }
    const times = groups.values().map(({ isStale, nextCheckAt }) => (isStale ? Number.POSITIVE_INFINITY : nextCheckAt));
    const next = Math.min(...times);
    if (Number.isFinite(next)) this.#computeIn(Math.max(minDelayMs, next - clock.wall()));
  }

  /** Blocks partly admitted workloads. Returns true if there were any. */
  #blockPartlyAdmitted(): boolean {
    const affected = this.#places.blockPartlyAdmitted();
    for (const config of affected) {
      const group = this.#places.groups.get(config);
      if (group !== undefined && !group.isStale) this.#computeGroup(config, group);
    }
    return affected.length > 0;
  }

  #computeGroup(config: string, group: BatchGroup): void {
    const { readers, changeOf, onChange, onCanary } = this.#options;
    const wasHalted = group.isHalted;
    const keys = new Set([...readers(this.#namespace, config), ...group.due, ...group.writing.keys()]);
    this.#members += keys.size;
    group.compute(keys, changeOf(group.object), (key) => this.#places.positionOf(key, config), this.#options);
    if (!group.isStale) for (const key of group.canary) onCanary(key);
    // Readers that still have to be reconciled mark the group stale then.
    if (group.isStale) this.#computeIn(maxDelayMs);
    else if (group.isHalted !== wasHalted) {
      for (const key of group.due) if (!group.admitted.has(key)) onChange(key, "low");
    }
    this.#noteHalt(config, group);
  }

  /** Reports a halt when it begins, again before its Event expires, and when it ends. */
  #noteHalt(config: string, group: BatchGroup): void {
    const { object, isHalted, isStale } = group;
    if (isHalted) this.#halted.set(config, group);
    else this.#halted.delete(config);
    const about = { object, namespace: this.#namespace };
    if (!isHalted) {
      if (group.isHaltReported) this.#options.onHalted({ ...about, failed: undefined });
      group.isHaltReported = false;
    } else if (!isStale) {
      const now = this.#options.clock.monotonic();
      const afterMs = group.isHaltReported ? repeatAfterMs : minReportIntervalMs;
      if (now < group.haltReportedAt + afterMs) return;
      const repeats = group.isHaltReported ? "reported" : group.wasOpen ? undefined : "perhaps";
      group.isHaltReported = true;
      group.haltReportedAt = now;
      this.#options.onHalted({ ...about, failed: [...group.failed], repeats });
    }
  }
}
