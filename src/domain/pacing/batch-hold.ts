import { findConfig } from "../config/view-of-references.ts";
import { isComplete } from "../model/kind-row.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { IncompleteRollout } from "../outcomes/outcomes.ts";
import { isValidator } from "../policy/rollout-policy.ts";
import type { ConfigName } from "../references/references.ts";
import { isDnsSubdomain } from "../syntax/names.ts";
import type { DueWrite } from "./due.ts";
import { incompleteRollout } from "./rollout-time.ts";
import { canCheck } from "./validator.ts";

/**
 * Returns the changed objects whose batches must admit a workload; undefined if it does not take part in batches.
 *
 * Two kinds of workload take no part. A workload that gets its first hash while none of its Pods is available: a wait would only
 * let the first Pods run longer before they are replaced. And a workload whose rollout replaces no Pod: as a canary it would
 * prove nothing.
 */
export function batchedChanges(due: DueWrite): readonly ConfigName[] | undefined {
  const { workload, decision, changed } = due;
  if (!isBatched(due)) return undefined;
  if (decision.outcome === "firstHash" && hasNoPodYet(workload)) return undefined;
  // A text that no object can have as its name has not changed, and must not become part of a path.
  return changed.filter(({ name }) => isDnsSubdomain(name));
}

/**
 * Returns what is recorded with a rollout that shows nothing to the batches of its changes if it fails, because the workload is not complete
 * before; undefined for other rollouts. Also for a workload whose first Pods are being created.
 */
export function rolledIncompleteBy(due: DueWrite): IncompleteRollout | undefined {
  const { workload, moment, flags } = due;
  if (!isBatched(due) || isComplete(workload)) return undefined;
  // A bad edit is the reason why it is not complete. It must still check the next one.
  if (isValidator(workload) && canCheck(workload, lastChange(due))) return undefined;
  return incompleteRollout(workload, moment, flags.soakMs);
}

/** Returns when the objects that made a workload due last changed, in milliseconds since the epoch; infinity if that is not known. */
function lastChange({ changed, lookup }: DueWrite): number {
  const times = changed.flatMap((object) => findConfig(lookup, object)?.changedAt ?? []);
  return times.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...times) * 1000;
}

/** Reports whether the rollout of a workload has a stage in the batches of its changes. */
function isBatched({ workload, policy, flags }: DueWrite): boolean {
  return flags.maxConcurrent > 0 && policy.batches.value && workload.progress.state !== "idle";
}

/**
 * Reports whether a workload without a hash has no available Pod. A rollout in progress alone does not show this: the
 * annotation that opts in a Deployment raises its generation, which its status does not contain yet.
 */
function hasNoPodYet({ recordedHash, progress }: Workload): boolean {
  return recordedHash === undefined && progress.state === "progressing" && progress.available === 0;
}
