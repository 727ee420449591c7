import type { Config } from "../../../src/domain/config/digest.ts";
import type { ConfigView } from "../../../src/domain/config/hash.ts";
import type { Hold } from "../../../src/domain/decision/hold.ts";
import type { Workload } from "../../../src/domain/model/workload.ts";
import { type BatchMember, batchOf, type Wave } from "../../../src/domain/pacing/batches.ts";
import { hasSettled } from "../../../src/domain/pacing/holds.ts";
import { hasLostItsHash } from "../../../src/domain/pacing/lost-hash.ts";
import type { Moment, Written } from "../../../src/domain/pacing/moment.ts";
import { stageOf } from "../../../src/domain/pacing/stage.ts";
import { planRollout, type RolloutPlan } from "../../../src/domain/plan/plan.ts";
import type { Policy } from "../../../src/domain/policy/policy.ts";
import { rolloutPolicyOf } from "../../../src/domain/policy/rollout-policy.ts";
import { type ConfigName, configKey } from "../../../src/domain/references/references.ts";
import type { Actor, World } from "./world.ts";

/** What is remembered of a workload; what a restart forgets. */
interface Memory {
  view: ConfigView | undefined;
  changes: { readonly first: number; readonly last: number } | undefined;
  written: Written | undefined;
  stands: { readonly at: string; readonly since: number } | undefined;
  completeSince: number | undefined;
}

/** What workloads, by their keys, are due for. */
type Objects = ReadonlyMap<string, readonly ConfigName[]>;

const asking: Hold = { reason: "batch", message: "", until: undefined, warning: false };

/**
 * What a controller does with plans, for tests: it plans every workload whenever anything happens or a time comes that it was
 * told of, and never else. So what is held past its time, or with no end, is never rolled.
 */
export class Conductor {
  readonly #world: World;
  readonly #policy: Policy;
  readonly #memory = new Map<string, Memory>();
  /** When it saw each ConfigMap change last. */
  readonly #seenAt = new Map<string, number>();
  #begun = 0;
  /** What it was told to look at again, milliseconds since the epoch. */
  #times: number[] = [];
  /** The last plan of each workload. */
  readonly plans = new Map<string, RolloutPlan>();

  constructor(world: World, policy: Policy) {
    this.#world = world;
    this.#policy = policy;
  }

  /** Forgets everything but what is stored. */
  restart(): void {
    this.#memory.clear();
    this.#seenAt.clear();
    this.#begun = this.#world.now;
  }

  /** Is told of a change of a ConfigMap. */
  changed(config: ConfigName): void {
    const { now } = this.#world;
    this.#seenAt.set(configKey(config), now);
    for (const { key, stored } of this.#world.actors) {
      if (!stored.references.some((reference) => configKey(reference) === configKey(config))) continue;
      const memory = this.#of(key);
      memory.changes = { first: memory.changes?.first ?? now, last: now };
    }
  }

  /** When it has to look again, milliseconds since the epoch; Infinity: never. */
  next(): number {
    return Math.min(...this.#times.filter((time) => time > this.#world.now));
  }

  /** Plans every workload and writes what may be written; `before` is asked right before each roll. True if it wrote. */
  conduct(before: (actor: Actor) => void): boolean {
    let wrote = false;
    this.#times = [];
    for (const actor of this.#world.actors) this.#notice(actor);
    const due = new Map<string, readonly ConfigName[]>();
    const behind = new Map<string, readonly ConfigName[]>();
    for (const actor of this.#world.actors) {
      const plan = this.#plan(actor, (_, objects) => {
        due.set(actor.key, objects);
        return asking;
      });
      if (plan.outcome !== "held") continue;
      behind.set(actor.key, (plan.due.outcome === "roll" ? plan.due.changed : undefined) ?? []);
    }
    const batches = this.#batches(due, behind);
    for (const actor of this.#world.actors) {
      const holdOf = (_: Workload, objects: readonly ConfigName[]) => {
        const held = objects.map((object) => batches.get(groupKey(actor.stored.namespace, object)));
        return held.find((batch) => batch !== undefined && !batch.go.has(actor.key))?.hold;
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

  #write(actor: Actor, { hash, streak = 1 }: RolloutPlan & { readonly outcome: "roll" }): void {
    const memory = this.#of(actor.key);
    const reverted = memory.written?.hash === hash ? memory.written.reverted + 1 : 0;
    this.#world.roll(actor, hash, streak);
    memory.written = { at: this.#world.now, hash, streak, reverted };
    memory.changes = undefined;
  }

  /** What each group lets go, by its key: first who is halted, as nobody else waits for these. */
  #batches(due: Objects, behind: Objects): ReadonlyMap<string, Wave> {
    const halted = new Set<string>();
    const evaluate = () => {
      const batches = new Map<string, Wave>();
      for (const namespace of new Set(this.#world.actors.map(({ shape }) => shape.namespace))) {
        for (const config of this.#world.configs) {
          const members = this.#members(namespace, config, due, behind, halted);
          const group = { object: config, namespace, members };
          batches.set(groupKey(namespace, config), batchOf(group, this.#flags));
        }
      }
      return batches;
    };
    const first = evaluate();
    for (const [key, batch] of first) if (batch.halted) halted.add(key);
    const batches = evaluate();
    for (const { again } of batches.values()) if (again !== undefined) this.#times.push(again);
    return batches;
  }

  #members(
    namespace: string,
    config: Config,
    due: Objects,
    behind: Objects,
    halted: ReadonlySet<string>,
  ): readonly BatchMember[] {
    const { now, lookup } = this.#world;
    const own = configKey(config);
    return this.#world.actors.flatMap((actor): readonly BatchMember[] => {
      const workload = this.#world.told(actor);
      const { batches, priority, resumedAt } = rolloutPolicyOf(workload, this.#policy);
      const reads = workload.references.some((reference) => configKey(reference) === own);
      if (workload.namespace !== namespace || !reads || !batches.value) return [];
      const objects = due.get(actor.key) ?? [];
      const isDue = objects.some((object) => configKey(object) === own);
      const elsewhere = objects.some((object) => configKey(object) !== own && halted.has(groupKey(namespace, object)));
      const { written, completeSince } = this.#of(actor.key);
      const held = behind.get(actor.key)?.length === 0;
      const facts = {
        workload,
        due: isDue,
        behind: behind.get(actor.key)?.some((object) => configKey(object) === own) ?? false,
        changedAt: (config.changedAt ?? 0) * 1000,
        seenAt: this.#seenAt.get(own) ?? this.#begun,
        writtenAt: written?.at,
        reverted: written ? written.hash !== workload.recordedHash : held && hasLostItsHash(workload, lookup),
        completeSince,
        resumed: resumedAt,
      };
      const stage = stageOf(facts, this.#flags, now);
      if (stage === undefined) return [];
      const counted = isDue && elsewhere ? ({ state: "heldElsewhere" } as const) : stage;
      return [{ key: actor.key, priority: priority.value, stage: counted }];
    });
  }

  #plan(actor: Actor, batch: Moment["batch"]): RolloutPlan {
    const { now, lookup } = this.#world;
    const { view, changes, written, stands } = this.#of(actor.key);
    const moment = { now, changes, written, standsSince: stands?.since ?? now, batch };
    return planRollout(this.#world.told(actor), lookup, this.#policy, view, moment);
  }

  #notice(actor: Actor): void {
    const { now } = this.#world;
    const memory = this.#of(actor.key);
    const progress = this.#world.progressOf(actor);
    const at = JSON.stringify([actor.stored.recordedHash, actor.stored.rolledAt, progress]);
    if (memory.stands?.at !== at) memory.stands = { at, since: now };
    memory.completeSince = progress.state === "complete" ? (memory.completeSince ?? now) : undefined;
  }

  get #flags() {
    if (this.#policy.pacing === undefined) throw new Error("a policy without flags");
    return this.#policy.pacing;
  }

  #of(key: string): Memory {
    const known = this.#memory.get(key);
    if (known !== undefined) return known;
    const memory = {
      view: undefined,
      changes: undefined,
      written: undefined,
      stands: undefined,
      completeSince: undefined,
    };
    this.#memory.set(key, memory);
    return memory;
  }
}

function groupKey(namespace: string, object: ConfigName): string {
  return `${namespace} ${configKey(object)}`;
}
