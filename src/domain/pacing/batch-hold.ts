import type { Workload } from "../model/workload.ts";
import type { ConfigName } from "../references/references.ts";
import { changedObjects, type DueWrite } from "./due.ts";

/**
 * Returns the changed objects whose batches must admit a workload; undefined if it does not take part in batches.
 *
 * Two kinds of workload take no part. A workload that gets its first hash while none of its Pods is available: a wait would only
 * let the first Pods run longer before they are replaced. And a workload whose rollout replaces no Pod: as a canary it would
 * prove nothing.
 */
export function batchedChanges(due: DueWrite): readonly ConfigName[] | undefined {
  const { workload, decision, policy, flags } = due;
  if (flags.maxConcurrent === 0 || !policy.batches.value) return undefined;
  if (workload.progress.state === "idle") return undefined;
  if (decision.outcome === "firstHash" && hasNoPodYet(workload)) return undefined;
  return changedObjects(due);
}

/**
 * Reports whether a workload without a hash has no available Pod. A rollout in progress alone does not show this: the
 * annotation that opts in a Deployment raises its generation, which its status does not contain yet.
 */
function hasNoPodYet({ recordedHash, progress }: Workload): boolean {
  return recordedHash === undefined && progress.state === "progressing" && progress.available === 0;
}
