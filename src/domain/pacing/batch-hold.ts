import type { Hold } from "../decision/hold.ts";
import type { Workload } from "../model/workload.ts";
import { changedObjects, type Due } from "./due.ts";

/**
 * Others that the same change concerns go first, or too many of them failed. Two kinds of workload wait for nobody. One
 * gets its first hash while its first Pods are still being made: waiting would only let these run longer before they
 * are replaced. Of the other no Pod is replaced: as a canary it would prove nothing.
 */
export function inBatches(due: Due): Hold | undefined {
  const { workload, decision, policy, flags, moment } = due;
  if (moment.batch === undefined || flags.maxConcurrent === 0 || !policy.batches.value) return undefined;
  if (workload.progress.state === "idle") return undefined;
  if (decision.outcome === "firstHash" && isNew(workload)) return undefined;
  return moment.batch(workload, changedObjects(due));
}

/**
 * None of its Pods is available. That its rollout is under way does not say so: the annotation that opts a Deployment in
 * raises its generation, of which its status does not know yet.
 */
function isNew({ recordedHash, progress }: Workload): boolean {
  return recordedHash === undefined && progress.state === "progressing" && progress.available === 0;
}
