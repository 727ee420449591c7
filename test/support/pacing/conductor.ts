import type { Config } from "../../../src/domain/config/digest.ts";
import type { ConfigView } from "../../../src/domain/config/hash.ts";
import type { Workload } from "../../../src/domain/model/workload-shape.ts";
import type { RolloutPlan } from "../../../src/domain/outcomes/outcomes.ts";
import { hasLostHash } from "../../../src/domain/pacing/batch-member.ts";
import { admitBatch, type BatchAdmission, type BatchMember } from "../../../src/domain/pacing/batches.ts";
import { hasSettled } from "../../../src/domain/pacing/holds.ts";
import type { LastWrite } from "../../../src/domain/pacing/moment.ts";
import { stageOf } from "../../../src/domain/pacing/stage.ts";
import type { World as DecisionWorld } from "../../../src/domain/plan/decide.ts";
import type { Policy } from "../../../src/domain/policy/policy.ts";
import { rulesFor } from "../../../src/domain/policy/rules.ts";
import { type ConfigName, configKey } from "../../../src/domain/references/references.ts";
import { decide } from "../domain/decisions.ts";
import type { Actor, World } from "./world.ts";

/** What the conductor remembers about a workload. A restart forgets it. */
interface ConductorMemory {
  view: ConfigView | undefined;
  changes: { readonly first: number; readonly last: number } | undefined;
  lastWrite: LastWrite | undefined;
  progress: { readonly state: string; readonly since: number } | undefined;
  completeSince: number | undefined;
}

/** The changed objects for which workloads are due, by the key of the workload. */
type ObjectsByWorkload = ReadonlyMap<string, readonly ConfigName[]>;

/**
 * A controller for tests. It plans every workload when anything happens or when an announced time comes, and at no other time.
 * A workload that is held after its time, or without an end, is therefore never rolled.
 */
export class Conductor {
  readonly #world: World;
  readonly #policy: Policy;
  readonly #memory = new Map<string, ConductorMemory>();
  /** The last time at which it saw each ConfigMap change. */
  readonly #seenAt = new Map<string, number>();
  #startedAt = 0;
  /** The time of the next plan, milliseconds since the epoch. */
  #times: number[] = [];
  /** The last plan of each workload. */
  readonly plans = new Map<string, RolloutPlan>();

  constructor(world: World, policy: Policy) {
    this.#world = world;
    this.#policy = policy;
  }

  /** Forgets everything that is not stored. */
  restart(): void {
    this.#memory.clear();
    this.#seenAt.clear();
    this.#startedAt = this.#world.now;
  }

  /** Reports a change of a ConfigMap to the controller. */
  changed(config: ConfigName): void {
    const { now } = this.#world;
    this.#seenAt.set(configKey(config), now);
    for (const { key, stored } of this.#world.actors) {
      if (!stored.references.some((reference) => configKey(reference) === configKey(config))) continue;
      const memory = this.#of(key);
      memory.changes = { first: memory.changes?.first ?? now, last: now };
    }
  }

  /** Returns the time of the next plan, milliseconds since the epoch; Infinity: never. */
  next(): number {
    return Math.min(...this.#times.filter((time) => time > this.#world.now));
  }

  /** Plans every workload and writes what may be written. Calls `before` right before each rollout. Returns whether it wrote. */
  conduct(before: (actor: Actor) => void): boolean {
    let wrote = false;
    this.#times = [];
    for (const actor of this.#world.actors) this.#observe(actor);
    const due = new Map<string, readonly ConfigName[]>();
    const behind = new Map<string, readonly ConfigName[]>();
    for (const actor of this.#world.actors) {
      const plan = this.#plan(actor);
      if (plan.batched !== undefined) due.set(actor.key, plan.batched);
      if (plan.outcome !== "held" && plan.batched === undefined) continue;
      const write = plan.outcome === "held" ? plan.due : plan;
      behind.set(actor.key, (write.outcome === "roll" ? write.changed : undefined) ?? []);
    }
    const batches = this.#batches(due, behind);
    for (const actor of this.#world.actors) {
      const holdOf = (_: Workload, changed: readonly ConfigName[]) => {
        const admissions = changed.map((object) => batches.get(groupKey(actor.stored.namespace, object)));
        return admissions.find((batch) => batch !== undefined && !batch.admitted.has(actor.key))?.hold;
      };
      const plan = this.#plan(actor, holdOf);
      this.plans.set(actor.key, plan);
      const memory = this.#of(actor.key);
      if (plan.outcome === "current" || hasSettled(plan.outcome === "held" ? plan.hold : undefined)) {
        memory.changes = undefined;
      }
      if (plan.outcome === "current" || plan.outcome === "roll") memory.view = plan.view;
      if (plan.outcome === "held" && plan.hold.until !== undefined) this.#times.push(plan.hold.until);
      if (plan.outcome !== "roll") continue;
      before(actor);
      this.#write(actor, plan);
      wrote = true;
    }
    return wrote;
  }

  #write(actor: Actor, { hash, ...recorded }: RolloutPlan & { readonly outcome: "roll" }): void {
    const { consecutiveRollouts = 1 } = recorded;
    const memory = this.#of(actor.key);
    const timesReverted = memory.lastWrite?.hash === hash ? memory.lastWrite.timesReverted + 1 : 0;
    this.#world.roll(actor, hash, recorded);
    memory.lastWrite = { at: this.#world.now, hash, consecutiveRollouts, timesReverted };
    memory.changes = undefined;
  }

  /** Returns the admissions of all changes, by their keys. Halted changes come first: the others do not wait for their workloads. */
  #batches(due: ObjectsByWorkload, behind: ObjectsByWorkload): ReadonlyMap<string, BatchAdmission> {
    const halted = new Set<string>();
    const evaluate = () => {
      const batches = new Map<string, BatchAdmission>();
      for (const namespace of new Set(this.#world.actors.map(({ shape }) => shape.namespace))) {
        for (const config of this.#world.configs) {
          const members = this.#members(namespace, config, due, behind, halted);
          const group = { object: config, namespace, members };
          batches.set(groupKey(namespace, config), admitBatch(group, this.#flags));
        }
      }
      return batches;
    };
    const first = evaluate();
    for (const [key, batch] of first) if (batch.halted) halted.add(key);
    const batches = evaluate();
    for (const { nextCheckAt } of batches.values()) if (nextCheckAt !== undefined) this.#times.push(nextCheckAt);
    return batches;
  }

  #members(
    namespace: string,
    config: Config,
    due: ObjectsByWorkload,
    behind: ObjectsByWorkload,
    halted: ReadonlySet<string>,
  ): readonly BatchMember[] {
    const { now, lookup } = this.#world;
    const own = configKey(config);
    return this.#world.actors.flatMap((actor): readonly BatchMember[] => {
      const workload = this.#world.observed(actor);
      const { batches, priority, resumedAt } = rulesFor(workload, this.#policy);
      const reads = workload.references.some((reference) => configKey(reference) === own);
      if (workload.namespace !== namespace || !reads || !batches.value) return [];
      const objects = due.get(actor.key) ?? [];
      const isDue = objects.some((object) => configKey(object) === own);
      const elsewhere = objects.some((object) => configKey(object) !== own && halted.has(groupKey(namespace, object)));
      const { lastWrite, completeSince, progress } = this.#of(actor.key);
      const held = behind.get(actor.key)?.length === 0;
      const facts = {
        workload,
        due: isDue,
        isDueForIt: behind.get(actor.key)?.some((object) => configKey(object) === own) ?? false,
        changedAt: (config.changedAt ?? 0) * 1000,
        seenAt: this.#seenAt.get(own) ?? this.#startedAt,
        writtenAt: lastWrite?.at,
        reverted: lastWrite ? lastWrite.hash !== workload.recordedHash : held && hasLostHash(workload, lookup),
        completeSince,
        advancedAt: progress?.since,
        resumed: resumedAt,
      };
      const stage = stageOf(facts, this.#flags, now);
      if (stage === undefined) return [];
      const inGroup = isDue && elsewhere ? ({ state: "heldElsewhere" } as const) : stage;
      return [{ key: actor.key, priority: priority.value, weight: 0, stage: inGroup }];
    });
  }

  #plan(actor: Actor, batchHold?: DecisionWorld["batchHold"]): RolloutPlan {
    const { now, lookup } = this.#world;
    const { view, changes, lastWrite, progress } = this.#of(actor.key);
    const moment = { now, changes, lastWrite, progressSince: progress?.since ?? now };
    return decide({
      workload: this.#world.observed(actor),
      lookup,
      policy: this.#policy,
      previous: view,
      moment,
      batchHold,
    });
  }

  #observe(actor: Actor): void {
    const { now } = this.#world;
    const memory = this.#of(actor.key);
    const progress = this.#world.progressOf(actor);
    const state = JSON.stringify([actor.stored.recordedHash, actor.stored.rolledAt, progress]);
    if (memory.progress?.state !== state) memory.progress = { state, since: now };
    memory.completeSince = progress.state === "complete" ? (memory.completeSince ?? now) : undefined;
  }

  get #flags() {
    if (this.#policy.pacing === undefined) throw new Error("a policy without flags");
    return this.#policy.pacing;
  }

  #of(key: string): ConductorMemory {
    const known = this.#memory.get(key);
    if (known !== undefined) return known;
    const memory = {
      view: undefined,
      changes: undefined,
      lastWrite: undefined,
      progress: undefined,
      completeSince: undefined,
    };
    this.#memory.set(key, memory);
    return memory;
  }
}

function groupKey(namespace: string, object: ConfigName): string {
  return `${namespace} ${configKey(object)}`;
}
