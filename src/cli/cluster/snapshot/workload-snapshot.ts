// This folder combines the reads of workloads to snapshots and plans them. It knows no command.

import { referencesOf } from "../../../domain/model/workload-references.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import {
  admitBatch,
  type BatchedChange,
  type BatchHoldLookup,
  type BatchMember,
} from "../../../domain/pacing/batches.ts";
import type { PacingFlags } from "../../../domain/policy/policy.ts";
import type { ConfigName } from "../../../domain/references/references.ts";
import type { ReadConfigs, UnreadConfig } from "../read/configs.ts";
import type { FoundWorkload, ReadPods } from "../read/pods.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";
import type { KubernetesReason } from "../states/state-rows.ts";
import type { Published } from "./leader-view.ts";

/** A workload with everything that its plan depends on, as read at one moment. */
export interface WorkloadSnapshot {
  readonly found: FoundWorkload;
  /** The failed read that leaves the matches of its regular expressions unknown; undefined if they are known. */
  readonly unnamed: UnreadConfig | undefined;
  readonly read: ReadConfigs;
  readonly policy: KnownPolicy;
  readonly pods: ReadPods;
  /** The verdict of the leader; undefined if everything that the plan depends on could be read. */
  readonly published?: Published | undefined;
  /** Why Kubernetes cannot create Pods; null if it reports no failure. */
  readonly kubernetes: KubernetesReason | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The hold by other workloads of the batch, if these were read. */
  readonly batch: BatchHoldLookup | undefined;
  /** Its place in the batches of its change; absent if it takes no part in batches, or if it is not due. */
  readonly place?: BatchPlace | undefined;
  /** The other workloads of the batch by stage, one line each. */
  readonly others: readonly string[];
  /** Other reads that failed and may matter, one line each. */
  readonly gaps: readonly string[];
}

/** Returns the workload with its references as if it had opted in, unless they exceed a limit. */
export function withAllReferences(
  { object, workload }: FoundWorkload,
  sources: Pick<KnownPolicy, "providerClasses">,
): Workload {
  if (workload.limitExceeded !== undefined || workload.optIn.state === "in") return workload;
  return { ...workload, ...referencesOf(object, undefined, sources) };
}

/** At most this number of batches is computed; later workloads have no number. */
const mostBatches = 200;

/**
 * Returns the batch number, from 1, of each due workload of a group, if all earlier batches complete in time. Halted workloads have no
 * number. The numbers come from admitting batch after batch.
 */
export function batchNumbers(group: BatchedChange, flags: PacingFlags): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  let members: readonly BatchMember[] = group.members;
  for (let number = 1; number <= mostBatches; ) {
    const { admitted } = admitBatch({ ...group, members }, flags);
    const before = members;
    members = members.map((member) =>
      admitted.has(member.key) || isUnderWay(member) ? { ...member, stage: passed } : member,
    );
    for (const key of admitted) numbers.set(key, number);
    if (admitted.size > 0) number++;
    else if (before.every((member, index) => member === members[index])) break;
  }
  return numbers;
}

/** The place of a workload in the batches of a change. */
export interface BatchPlace {
  readonly object: ConfigName;
  /** The number of its batch among those that are left, from 1; null if it rolls, or if it is halted or held otherwise. */
  readonly number: number | null;
  /** The number of batches that are left. */
  readonly of: number;
  /** The workloads that are complete, of all that the change concerns. */
  readonly complete: number;
  readonly workloads: number;
}

/** Returns the place of a workload in the batches of a change. */
export function placeIn(group: BatchedChange, key: string, flags: PacingFlags): BatchPlace {
  const { object, members } = group;
  const numbers = batchNumbers(group, flags);
  const complete = members.filter(({ stage }) => stage.state === "passed").length;
  return {
    object,
    number: numbers.get(key) ?? null,
    of: Math.max(0, ...numbers.values()),
    complete,
    workloads: members.length,
  };
}

const passed = { state: "passed" } as const;

function isUnderWay({ stage }: BatchMember): boolean {
  return stage.state === "progressing" || stage.state === "stuck" || stage.state === "soaking";
}
