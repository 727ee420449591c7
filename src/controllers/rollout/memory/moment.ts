import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { Moment, NamespaceAlerts } from "../../../domain/pacing/moment.ts";
import type { NewPods } from "../../../domain/pods/new-pods.ts";
import type { LeaderParts } from "../../leader-context.ts";
import { knownFailedAlert, type PodsRead } from "./pacing-memory.ts";
import type { Findings, WorkloadMemory } from "./workload-memory.ts";

/** How long a list of Pods shows which ones there are, in milliseconds: other Pods may have replaced them since. */
const podsValidMs = 15_000;

/** What the moment needs beside the memory. */
export interface MomentSources extends LeaderParts<"clock", "absentSince"> {
  /** Returns what the Pods of the last rollout show. */
  readonly newPods: (workload: Workload) => NewPods | undefined;
  /** Returns what the alert gate knows of a namespace. Default: there is no gate. */
  readonly alerts?: ((namespace: string) => NamespaceAlerts) | undefined;
}

/** Returns what the leader knows of a workload now, with all times in milliseconds since the epoch. */
export function momentOf(
  { changes, heldBy }: Pick<WorkloadMemory, "changes" | "heldBy">,
  findings: Findings,
  workload: Workload,
  { clock, caches: { absentSince }, newPods, alerts }: MomentSources,
): Moment {
  const { lastWrite, progress, legacy, annotations, unrestored, pods, mixed } = findings;
  const { uid, resourceVersion, recordedHash } = workload;
  const now = clock.wall();
  const monotonic = clock.monotonic();
  // Memories have no wall-clock times: a clock that is set back would hold everything for as long.
  const onWall = (at: number) => now - (monotonic - at);
  return {
    now,
    changes: changes && { first: onWall(changes.first), last: onWall(changes.last) },
    lastWrite: lastWrite?.uid === uid ? { ...lastWrite, at: onWall(lastWrite.at) } : undefined,
    progressSince: onWall(progress?.since ?? monotonic),
    advancedAt: progress && onWall(progress.advancedAt),
    completeMs: progress?.completeMs ?? 0,
    newPods: newPods(workload),
    alerts: alerts?.(workload.namespace),
    failedAlert: knownFailedAlert(findings, workload),
    pods:
      pods?.uid === uid && pods.listed !== undefined
        ? { ...pods.listed, isEarlier: !isCurrent(pods, resourceVersion, monotonic) }
        : undefined,
    absentSince,
    mixed: mixed?.pods?.uid === uid && mixed.pods.hash === recordedHash ? mixed.pods : undefined,
    legacy,
    changedByUndo: annotations?.changedByUndo,
    unrestored,
    heldBy,
  };
}

/** Reports whether a list still shows the Pods of a workload that has this resourceVersion now. */
function isCurrent({ resourceVersion: listedAs, at }: PodsRead, resourceVersion: number, now: number): boolean {
  return listedAs === resourceVersion && now - at < podsValidMs;
}
