import type { Hold } from "../../../domain/outcomes/hold.ts";
import type { ChangeTimes, QueuePosition } from "../../../domain/pacing/batch-member.ts";
import { admitBatch, type BatchAdmission } from "../../../domain/pacing/batches.ts";
import type { PacingFlags } from "../../../domain/policy/pacing-flags.ts";
import { type ConfigName, configKey, parseConfigKey } from "../../../domain/references/references.ts";
import { type BatchFacts, membersOf } from "./batch-members.ts";

/** How long readers that still have to be reconciled may delay the batch, in milliseconds. */
export const maxDelayMs = 10_000;

/** The batches of one changed object, for the workloads of one namespace that read it. */
export class BatchGroup {
  readonly object: ConfigName;
  readonly #namespace: string;
  /** The keys of the workloads that are due for the change and held only by batches. */
  readonly due = new Set<string>();
  /** The keys of the workloads that are admitted and not written yet, and whether each was complete when it was admitted. */
  readonly writing = new Map<string, boolean>();
  /** Whether the admitted workloads may have changed since they were computed. */
  isStale = true;
  /** When the halt was last reported on the object, in monotonic milliseconds, and whether the current halt was. */
  haltReportedAt = Number.NEGATIVE_INFINITY;
  isHaltReported = false;
  /** Whether the change was seen when it was not halted. Otherwise an earlier leader may have reported its halt. */
  wasOpen = false;
  #batch: BatchAdmission | undefined;
  /** The keys of the due workloads that are complete. */
  #complete: ReadonlySet<string> = new Set();
  #delayedSince: number | undefined;

  /** `config` is the key of the object. */
  constructor(namespace: string, config: string) {
    this.#namespace = namespace;
    this.object = parseConfigKey(config);
  }

  /** Reports whether too many workloads failed after the change. */
  get isHalted(): boolean {
    return this.#batch?.halted ?? false;
  }

  /** The keys of the admitted workloads, in their order. */
  get admitted(): ReadonlySet<string> {
    return this.#batch?.admitted ?? new Set();
  }

  /** When the admitted workloads may change without an event, milliseconds since the epoch. */
  get nextCheckAt(): number {
    return this.#batch?.nextCheckAt ?? Number.POSITIVE_INFINITY;
  }

  /** The keys of the failed workloads that were complete before. */
  get failed(): ReadonlySet<string> {
    return this.#batch?.failed ?? new Set();
  }

  /** Whether the canary has passed. */
  get canaryPassed(): boolean {
    return this.#batch?.canaryPassed ?? false;
  }

  /** The keys of the workloads of the canary that roll now, or soak. */
  get canary(): ReadonlySet<string> {
    return this.#batch?.canary ?? new Set();
  }

  /** Returns the hold of the workloads that are not admitted. */
  holdBy(flags: PacingFlags): Hold {
    const { hold } = this.#batch ?? admitBatch({ object: this.object, namespace: this.#namespace, members: [] }, flags);
    return this.isHalted ? { ...hold, haltReportedAt: this.haltReportedAt } : hold;
  }

  /**
   * Computes the admitted workloads among `keys`, for a change at these times. If one of the readers still has to be
   * reconciled, the group stays stale.
   */
  compute(
    keys: Iterable<string>,
    times: ChangeTimes,
    positionOf: (key: string) => QueuePosition,
    facts: BatchFacts,
  ): void {
    const now = facts.clock.monotonic();
    this.#delayedSince ??= now;
    const waitsForRuns = now < this.#delayedSince + maxDelayMs;
    const change = { namespace: this.#namespace, config: configKey(this.object), ...times, waitsForRuns };
    const members = membersOf(change, keys, positionOf, facts);
    this.isStale = members === undefined;
    if (members === undefined) return;
    this.#delayedSince = undefined;
    const complete = members.filter(({ stage }) => stage.state === "due" && stage.wasComplete);
    this.#complete = new Set(complete.map(({ key }) => key));
    this.#batch = admitBatch({ object: this.object, namespace: this.#namespace, members }, facts.flags);
    this.wasOpen ||= !this.#batch.halted;
  }

  /** Marks a workload as admitted. Its status may show the new rollout before the write is answered. */
  admit(key: string): void {
    this.writing.set(key, this.#complete.has(key));
  }
}
