import type { ConfigView } from "../../../domain/config/hash.ts";
import { type Workload, workloadKey } from "../../../domain/model/workload.ts";
import { batchMember, type MemberFacts } from "../../../domain/pacing/batch-member.ts";
import {
  admitBatch,
  type BatchAdmission,
  type BatchedChange,
  type BatchHoldLookup,
  type BatchMember,
} from "../../../domain/pacing/batches.ts";
import { maxBlockRounds, partlyAdmitted } from "../../../domain/pacing/partly-admitted.ts";
import { plannedFacts } from "../../../domain/plan/batch-facts.ts";
import { decide } from "../../../domain/plan/decide.ts";
import type { RolloutPlan } from "../../../domain/plan/plan.ts";
import { rolloutPolicyOf } from "../../../domain/policy/rollout-policy.ts";
import { type ConfigName, configKey } from "../../../domain/references/references.ts";
import type { ReadConfigs } from "../read/configs.ts";
import type { ReadPods } from "../read/pods.ts";
import type { FoundWorkload } from "../read/workloads.ts";
import { type KnownPolicy, policyOf } from "../running-wave/known-policy.ts";
import { restartingContainer, rolloutProgressSince } from "../states/assess-state.ts";
import { lookupIn, worldOf } from "./live-plan.ts";

/** The workloads of one or more namespaces, and what their plans depend on. */
export interface BatchesNowFacts {
  /** All workloads of these namespaces that opted in. */
  readonly found: readonly FoundWorkload[];
  readonly read: ReadConfigs;
  readonly policy: KnownPolicy;
  readonly now: number;
  /** Returns the Pods of a namespace, which show when a rollout last made progress. */
  readonly podsIn?: (namespace: string) => ReadPods;
  /** Returns the configuration that the Pods of a workload run with, if known: only differences from it are due. */
  readonly seen?: (workload: Workload) => ConfigView | undefined;
}

const unreadPods = (): ReadPods => ({ state: "unread", why: "Pods were not listed" });

/** The batches of these namespaces at this moment, from the API alone, as Wave derives them after a restart. */
export interface BatchesNow {
  /** Returns the hold of a workload by its batches; undefined if they admit it. */
  readonly holdOf: BatchHoldLookup;
  /** Returns the change whose batch holds a workload; undefined if no batch holds it. */
  readonly holderOf: (workload: Workload, changed: readonly ConfigName[]) => BatchedChange | undefined;
  /** Returns a change of an object with the workloads of the namespace that read it. */
  readonly groupOf: (object: ConfigName, namespace: string) => BatchedChange;
}

/** Derives which workloads may roll now, from all workloads of each namespace. */
export function batchesNow(facts: BatchesNowFacts): BatchesNow {
  const { found, read, policy, now, seen, podsIn = unreadPods } = facts;
  const readers = readersByGroup(found);
  const decideNow = (each: FoundWorkload) =>
    decide(
      worldOf(each, read, policy, now, {
        previous: seen?.(each.workload),
        pods: podsIn(each.workload.namespace),
      }),
    );
  const plans = new Map(found.map((each) => [each, decideNow(each)]));
  const blocked = new Set<string>();
  const groupOf = (object: ConfigName, namespace: string): BatchedChange => {
    const all = readers.get(groupKey(object, namespace)) ?? [];
    const members = all.flatMap((each) => memberOf(each, plans.get(each), object, facts, blocked));
    return { object, namespace, members };
  };
  const admit = (object: ConfigName, namespace: string) => admitBatch(groupOf(object, namespace), policy.pacing);
  const batches = admitJointly(found, plans, blocked, admit);
  const admissionOf = (object: ConfigName, namespace: string): BatchAdmission => {
    const key = groupKey(object, namespace);
    const batch = batches.get(key) ?? admit(object, namespace);
    batches.set(key, batch);
    return batch;
  };
  const holding = (workload: Workload, changed: readonly ConfigName[]) => {
    const held = changed.filter(
      (object) => !admissionOf(object, workload.namespace).admitted.has(workloadKey(workload)),
    );
    return held.find((object) => admissionOf(object, workload.namespace).halted) ?? held[0];
  };
  return {
    holdOf: (workload, changed) => {
      const object = holding(workload, changed);
      return object && admissionOf(object, workload.namespace).hold;
    },
    holderOf: (workload, changed) => {
      const object = holding(workload, changed);
      return object && groupOf(object, workload.namespace);
    },
    groupOf,
  };
}

/**
 * Returns the batches of all changes for which workloads are due, by `groupKey`. Adds the workloads to `blocked` that one change admits and
 * another does not.
 */
function admitJointly(
  found: readonly FoundWorkload[],
  plans: ReadonlyMap<FoundWorkload, RolloutPlan>,
  blocked: Set<string>,
  admit: (object: ConfigName, namespace: string) => BatchAdmission,
): Map<string, BatchAdmission> {
  const changes = new Map<string, () => BatchAdmission>();
  const dueFor = new Map<string, readonly string[]>();
  for (const each of found) {
    const { namespace } = each.workload;
    const plan = plans.get(each);
    const objects = plan?.batched ?? [];
    dueFor.set(
      workloadKey(each.workload),
      objects.map((object) => groupKey(object, namespace)),
    );
    for (const object of objects) changes.set(groupKey(object, namespace), () => admit(object, namespace));
  }
  const batches = new Map([...changes].map(([change, compute]) => [change, compute()]));
  const isAdmittedByAll = (key: string) =>
    dueFor.get(key)?.every((change) => batches.get(change)?.admitted.has(key)) === true;
  for (let round = 0; round < maxBlockRounds; round++) {
    const admitted = batches.entries().map(([change, batch]) => [change, batch.admitted] as const);
    const held = [...partlyAdmitted(admitted, isAdmittedByAll)].filter(([key]) => !blocked.has(key));
    if (held.length === 0) break;
    for (const [key] of held) blocked.add(key);
    for (const change of new Set(held.flatMap(([, by]) => by))) {
      const compute = changes.get(change);
      if (compute !== undefined) batches.set(change, compute());
    }
  }
  return batches;
}

/** Returns the key of a change of one object for the workloads of one namespace. */
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

/** Returns a workload with its stage for the last change of an object; empty if the change does not affect it. */
function memberOf(
  { object: stored, workload }: FoundWorkload,
  plan: RolloutPlan | undefined,
  object: ConfigName,
  { read, policy, now, podsIn = unreadPods }: BatchesNowFacts,
  blocked: ReadonlySet<string>,
): readonly BatchMember[] {
  if (plan === undefined) return [];
  const config = configKey(object);
  const key = workloadKey(workload);
  const planFacts = plannedFacts(plan, config);
  const facts: MemberFacts = {
    key,
    workload,
    policy: rolloutPolicyOf(workload, policyOf(workload, policy)),
    ...planFacts,
    position: planFacts.position === "due" && blocked.has(key) ? "heldElsewhere" : planFacts.position,
    // Wave may have written it. The API shows only the result.
    lastWrite: undefined,
    // Without a time in the status, the rollout is taken as complete at once, which is soon correct.
    completeSince: workload.rolledAt * 1000,
    advancedAt: rolloutProgressSince(stored, workload, podsIn(workload.namespace)),
    completeMs: 0,
    restarts: restartingContainer(workload, podsIn(workload.namespace), now) !== undefined,
  };
  const times = { changedAt: changedAtOf(object, read) ?? now, seenAt: undefined };
  const member = batchMember(facts, config, times, lookupIn(read), policy.pacing, now);
  return member === undefined ? [] : [member];
}

function changedAtOf(object: ConfigName, read: ReadConfigs): number | undefined {
  const found = read.get(configKey(object));
  return found?.state === "present" && found.config.changedAt !== undefined ? found.config.changedAt * 1000 : undefined;
}
