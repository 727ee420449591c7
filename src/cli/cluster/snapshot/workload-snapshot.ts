// This folder combines the reads of workloads to snapshots and plans them. It knows no command.
import type { Workload } from "../../../domain/model/workload.ts";
import { referencesOf } from "../../../domain/model/workload-references.ts";
import type { BatchHoldLookup } from "../../../domain/pacing/batches.ts";
import type { ReadConfigs, UnreadConfig } from "../read/configs.ts";
import type { ReadPods } from "../read/pods.ts";
import type { FoundWorkload } from "../read/workloads.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";
import type { KubernetesReason } from "../states/kubernetes-reason.ts";
import type { BatchPlace } from "./batch-numbers.ts";
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
  const { merged = [], limitExceeded } = referencesOf(object, undefined, sources);
  return { ...workload, references: merged, limitExceeded };
}
