import type { ConfigView } from "../../domain/config/hash.ts";
import { type Workload, workloadKey } from "../../domain/model/workload.ts";
import {
  admitBatch,
  type BatchAdmission,
  type BatchedChange,
  type BatchHoldLookup,
  type BatchMember,
} from "../../domain/pacing/batches.ts";
import { hasLostHash } from "../../domain/pacing/lost-hash.ts";
import { stageOf } from "../../domain/pacing/stage.ts";
import { rolloutPolicyOf } from "../../domain/policy/rollout-policy.ts";
import { type ConfigName, configKey } from "../../domain/references/references.ts";
import { type KnownPolicy, policyOf } from "./known-policy.ts";
import { lookupIn, planLive } from "./live-plan.ts";
import type { ReadConfigs } from "./read-configs.ts";
import type { FoundWorkload } from "./read-workloads.ts";

/** What is known of the workloads of a namespace. */
export interface BatchFacts {
  /** All of the namespace that opted in. */
  readonly found: readonly FoundWorkload[];
  readonly read: ReadConfigs;
  readonly policy: KnownPolicy;
  readonly now: number;
  /** What the Pods of a workload see, where whoever asks knows that: then it is due for what differs alone. */
  readonly seen?: (workload: Workload) => ConfigView | undefined;
}

/** The waves of some namespaces as they are now, derived from the API alone as Wave itself derives them after a restart. */
export interface Waves {
  /** For the moments of plans. */
  readonly holdOf: BatchHoldLookup;
  /** The change that holds a workload for which these objects changed; undefined where none does. */
  readonly holderOf: (workload: Workload, changed: readonly ConfigName[]) => BatchedChange | undefined;
  /** Those of a namespace that a change of an object concerns. */
  readonly groupOf: (object: ConfigName, namespace: string) => BatchedChange;
}

/** Works out who may go first and who follows, from all workloads of each namespace. */
export function batchesNow(facts: BatchFacts): Waves {
  const readers = readersByGroup(facts.found);
  const plans = new Map(facts.found.map((each) => [each, planned(each, facts)]));
  const batches = new Map<string, BatchAdmission>();
  const groupOf = (object: ConfigName, namespace: string): BatchedChange => {
    const all = readers.get(groupKey(object, namespace)) ?? [];
    return { object, namespace, members: all.flatMap((each) => memberOf(each, plans.get(each), object, facts)) };
  };
  const waveFor = (object: ConfigName, namespace: string): BatchAdmission => {
    const key = groupKey(object, namespace);
    const known = batches.get(key);
    if (known !== undefined) return known;
    const batch = admitBatch(groupOf(object, namespace), facts.policy.pacing);
    batches.set(key, batch);
    return batch;
  };
  const holding = (workload: Workload, changed: readonly ConfigName[]) =>
    changed.find((object) => !waveFor(object, workload.namespace).admitted.has(workloadKey(workload)));
  return {
    holdOf: (workload, changed) => {
      const object = holding(workload, changed);
      return object && waveFor(object, workload.namespace).hold;
    },
    holderOf: (workload, changed) => {
      const object = holding(workload, changed);
      return object && groupOf(object, workload.namespace);
    },
    groupOf,
  };
}

/** A change of one object, for the workloads of one namespace. */
function groupKey(object: ConfigName, namespace: string): string {
  return `${namespace} ${configKey(object)}`;
}

function readersByGroup(found: readonly FoundWorkload[]): ReadonlyMap<string, readonly FoundWorkload[]> {
  const readers = new Map<string, FoundWorkload[]>();
  for (const each of found) {
    const groups = new Set(each.workload.references.map((object) => groupKey(object, each.workload.namespace)));
    for (const group of groups) {
      const others = readers.get(group);
      if (others === undefined) readers.set(group, [each]);
      else others.push(each);
    }
  }
  return readers;
}

/** What a plan says of a workload but for waves. */
interface Planned {
  /** The keys of the objects for which it is due and held by nothing else. */
  readonly dueFor: ReadonlySet<string>;
  /** Whether it is due, and something else holds it than waves. */
  readonly isHeld: boolean;
  /** Whether its hash stands for what it reads now. */
  readonly isCurrent: boolean;
}

function planned(found: FoundWorkload, { read, policy, now, seen }: BatchFacts): Planned {
  const plan = planLive(found, read, policy, now, seen?.(found.workload));
  const dueFor = new Set(plan.outcome === "candidate" ? plan.changed.map(configKey) : []);
  return { dueFor, isHeld: plan.outcome === "held", isCurrent: plan.outcome === "current" };
}

/** How far a workload is with the last change of an object that it reads; none where that does not concern it. */
function memberOf(
  { workload }: FoundWorkload,
  plan: Planned | undefined,
  object: ConfigName,
  { read, policy, now }: BatchFacts,
): readonly BatchMember[] {
  const { batches, priority, resumedAt } = rolloutPolicyOf(workload, policyOf(policy));
  if (!batches.value || plan === undefined) return [];
  const changedAt = changedAtOf(object, read) ?? now;
  // Rolled in the second of the change, to what is there since: no time of the API tells that it was after it.
  const inItsSecond = plan.isCurrent && workload.rolledAt * 1000 === changedAt;
  const stage = stageOf(
    {
      workload,
      due: plan.dueFor.has(configKey(object)),
      changedAt,
      reverted: plan.isHeld && hasLostHash(workload, lookupIn(read)),
      writtenAt: inItsSecond ? changedAt + 1_000 : undefined,
      // Where no status tells, it is taken to have been complete at once, which is right soon.
      completeSince: workload.rolledAt * 1000,
      resumed: resumedAt,
    },
    policy.pacing,
    now,
  );
  return stage === undefined ? [] : [{ key: workloadKey(workload), priority: priority.value, stage }];
}

function changedAtOf(object: ConfigName, read: ReadConfigs): number | undefined {
  const found = read.get(configKey(object));
  return found?.state === "present" && found.config.changedAt !== undefined ? found.config.changedAt * 1000 : undefined;
}
