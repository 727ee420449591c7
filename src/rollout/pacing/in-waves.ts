import { changedObjects, type Due } from "./due.ts";
import type { Hold } from "./hold.ts";

/**
 * Others that the same change concerns go first, or too many of them failed. The first hash of a workload whose first Pods
 * are still being made waits for nobody: they would only run for longer before they are replaced.
 */
export function inWaves(due: Due): Hold | undefined {
  const { workload, decision, policy, flags, moment } = due;
  if (moment.wave === undefined || flags.maxConcurrent === 0 || !policy.waves.value) return undefined;
  const isNew = workload.recordedHash === undefined && workload.progress.state === "progressing";
  if (decision.outcome === "baseline" && isNew) return undefined;
  return moment.wave(workload, changedObjects(due));
}
