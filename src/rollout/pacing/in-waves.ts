import type { Workload } from "../workload.ts";
import { changedObjects, type Due } from "./due.ts";
import type { Hold } from "./hold.ts";

/**
 * Others that the same change concerns go first, or too many of them failed. The first hash of a workload whose first Pods
 * are still being made waits for nobody: they would only run for longer before they are replaced. Nor does one of which no
 * Pod is replaced: as a canary it would prove nothing.
 */
export function inWaves(due: Due): Hold | undefined {
  const { workload, decision, policy, flags, moment } = due;
  if (moment.wave === undefined || flags.maxConcurrent === 0 || !policy.waves.value) return undefined;
  if (workload.progress.state === "idle") return undefined;
  if (decision.outcome === "baseline" && isNew(workload)) return undefined;
  return moment.wave(workload, changedObjects(due));
}

/**
 * None of its Pods is available. That its rollout is under way does not say so: the annotation that opts a Deployment in
 * raises its generation, of which its status does not know yet.
 */
function isNew({ recordedHash, progress }: Workload): boolean {
  return recordedHash === undefined && progress.state === "progressing" && progress.available === 0;
}
