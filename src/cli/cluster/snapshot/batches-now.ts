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
import { rolloutPolicyOf } from "../../../domain/policy/rollout-policy.ts";
import { type ConfigName, configKey } from "../../../domain/references/references.ts";
import type { ReadConfigs } from "../read/configs.ts";
import type { FoundWorkload } from "../read/workloads.ts";
import { type KnownPolicy, policyOf } from "../running-wave/known-policy.ts";
import { lookupIn, planFromCluster } from "./live-plan.ts";

/** The workloads of one or more namespaces, and what their plans depend on. */
export interface BatchesNowFacts {
  /** All workloads of these namespaces that opted in. */
  readonly found: readonly FoundWorkload[];
  readonly read: ReadConfigs;
  readonly policy: KnownPolicy;
  readonly now: number;
  /** Returns the configuration that the Pods of a workload run with, if known: only differences from it are due. */
  readonly seen?: (workload: Workload) => ConfigView | undefined;
}

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
  const readers = readersByGroup(facts.found);
  const plans = new Map(facts.found.map((each) => [each, planned(each, facts)]));
  const batches = new Map<string, BatchAdmission>();
  const groupOf = (object: ConfigName, namespace: string): BatchedChange => {
    const all = readers.get(groupKey(object, namespace)) ?? [];
    return { object, namespace, members: all.flatMap((each) => memberOf(each, plans.get(each), object, facts)) };
  };
  const admissionOf = (object: ConfigName, namespace: string): BatchAdmission => {
    const key = groupKey(object, namespace);
    const known = batches.get(key);
    if (known !== undefined) return known;
    const batch = admitBatch(groupOf(object, namespace), facts.policy.pacing);
    batches.set(key, batch);
    return batch;
  };
  const holding = (workload: Workload, changed: readonly ConfigName[]) =>
    changed.find((object) => !admissionOf(object, workload.namespace).admitted.has(workloadKey(workload)));
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

/** The result of a plan without batches. */
interface PlanSummary extends Pick<MemberFacts, "held" | "isCurrent"> {
  /** The keys of the changed objects, if the workload is due and only batches may hold it. */
  readonly dueFor: ReadonlySet<string>;
}

function planned(found: FoundWorkload, { read, policy, now, seen }: BatchesNowFacts): PlanSummary {
  const plan = planFromCluster(found, read, policy, now, seen?.(found.workload));
  const dueFor = keysOf(plan.outcome === "candidate" ? plan.changed : []);
  const due = plan.outcome === "held" ? plan.due : undefined;
  const held = due && { changed: due.outcome === "roll" && due.changed ? keysOf(due.changed) : undefined };
  return { dueFor, held, isCurrent: plan.outcome === "current" };
}

function keysOf(objects: readonly ConfigName[]): ReadonlySet<string> {
  return new Set(objects.map(configKey));
}

/** Returns a workload with its stage for the last change of an object; empty if the change does not affect it. */
function memberOf(
  { workload }: FoundWorkload,
  plan: PlanSummary | undefined,
  object: ConfigName,
  { read, policy, now }: BatchesNowFacts,
): readonly BatchMember[] {
  if (plan === undefined) return [];
  const config = configKey(object);
  const { dueFor, held, isCurrent } = plan;
  const facts: MemberFacts = {
    key: workloadKey(workload),
    workload,
    policy: rolloutPolicyOf(workload, policyOf(workload, policy)),
    position: dueFor.has(config) ? "due" : "none",
    held,
    isCurrent,
    // Wave may have written it. The API shows only the result.
    lastWrite: undefined,
    // Without a time in the status, the rollout is taken as complete at once, which is soon correct.
    completeSince: workload.rolledAt * 1000,
    completeMs: 0,
  };
  const times = { changedAt: changedAtOf(object, read) ?? now, seenAt: undefined };
  const member = batchMember(facts, config, times, lookupIn(read), policy.pacing, now);
  return member === undefined ? [] : [member];
}

function changedAtOf(object: ConfigName, read: ReadConfigs): number | undefined {
  const found = read.get(configKey(object));
  return found?.state === "present" && found.config.changedAt !== undefined ? found.config.changedAt * 1000 : undefined;
}
