import type { Workload } from "../model/workload.ts";
import type { MemberFacts } from "../pacing/batch-member.ts";
import { type BatchesFacts, type DerivedBatches, deriveBatches } from "../pacing/derive-batches.ts";
import { blockedBy } from "../pacing/validator.ts";
import { type ConfigName, configKey } from "../references/references.ts";
import type { RolloutPlan } from "./plan.ts";

/** What the batches of a namespace follow from if no process remembers anything. */
export interface StoredBatchesFacts
  extends Pick<BatchesFacts, "namespace" | "readersOf" | "changeOf" | "lookup" | "flags" | "now"> {
  /** The key of the only object whose change is derived. Default: all changes for which workloads are due. */
  readonly only?: string;
  /** The keys of objects whose change is derived even if no workload is due for it. Default: none. */
  readonly also?: readonly string[];
  /** The workloads of the namespace by their keys. */
  readonly workloads: ReadonlyMap<string, PlannedWorkload>;
}

/** A workload with its plan without batches, and what is known of its rollout beside its status. */
export interface PlannedWorkload extends Pick<MemberFacts, "policy"> {
  readonly workload: Workload;
  readonly plan: RolloutPlan;
  /** Returns what its Pods show. Default: they are not known. */
  readonly observe?: () => Pick<MemberFacts, "advancedAt" | "newPods">;
}

/** Derives the batches of a namespace from the API alone, as a leader that has just started does. */
export function storedBatches({ workloads, only, also = [], ...rest }: StoredBatchesFacts): DerivedBatches {
  const due = new Map<string, readonly string[]>();
  for (const [key, { plan }] of workloads) {
    const changed = plan.batched?.map(configKey) ?? [];
    due.set(key, only === undefined ? changed : changed.filter((config) => config === only));
  }
  const factsOf = (key: string): MemberFacts | undefined => {
    const known = workloads.get(key);
    return known && storedFacts(key, known);
  };
  return deriveBatches({ ...rest, due, also: only === undefined ? also : [only, ...also], factsOf });
}

function storedFacts(key: string, { workload, policy, plan, observe }: PlannedWorkload): MemberFacts {
  const due = plan.outcome === "held" ? plan.due : undefined;
  return {
    key,
    workload,
    policy,
    held:
      plan.outcome === "held" && due
        ? { reason: plan.hold.reason, changed: due.outcome === "roll" && due.changed ? keysOf(due.changed) : undefined }
        : undefined,
    blocked: plan.outcome === "waiting" ? blockedBy.missing : undefined,
    isCurrent: plan.outcome === "current",
    // Wave may have written it. The API shows only the result.
    lastWrite: undefined,
    // Without a time in the status, the rollout is taken as complete at once, which is soon correct.
    completeSince: workload.rolledAt * 1000,
    completeMs: 0,
    ...(observe?.() ?? { advancedAt: undefined }),
  };
}

function keysOf(objects: readonly ConfigName[]): ReadonlySet<string> {
  return new Set(objects.map(configKey));
}
