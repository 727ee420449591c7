import type { ConfigView } from "../config/hash.ts";
import type { Lookup } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload.ts";
import type { HoldReason } from "../outcomes/hold.ts";
import { nextConsecutiveRollouts } from "../pacing/interval.ts";
import type { Moment } from "../pacing/moment.ts";
import { readAsCopy } from "../pinning/pin-request.ts";
import { formatConfigMaps } from "../pinning/pin-texts.ts";
import { pinnedLookup } from "../pinning/pinned-lookup.ts";
import { formatPins, pinsIn } from "../pinning/pins.ts";
import { rejectsLive } from "../pinning/rejections.ts";
import type { Policy } from "../policy/policy.ts";
import { configKey } from "../references/references.ts";
import { planDue } from "./due-plan.ts";
import type { RolloutPlan } from "./plan.ts";

/** Copies that the pod template of a workload names, that were deleted, and without which a Pod of the workload cannot start. */
export interface StuckPins {
  /** The pins of the pod template. With other pins, this is past. */
  readonly pinned: string;
  /** The newest stored copy of an earlier revision, by the name of the ConfigMap; undefined if there is none. */
  readonly earlier: ReadonlyMap<string, string | undefined>;
}

/** What new Pods may read instead of a lost copy. */
type Substitute = "earlierCopy" | "anything";

/** Holds of changes that may reach no Pod. For these, no live configuration replaces a lost copy. */
const keepChangesOut: readonly HoldReason[] = ["hold", "approval", "halted"];

/** Holds that may take hours, and end by themselves. */
const long: readonly HoldReason[] = ["window", "batch"];

/**
 * Returns the plan of a workload with a Pod that cannot start without a lost copy: one rollout to the newest earlier copy, otherwise to live
 * configuration if the change may be rolled later anyway. Returns `plan` if it needs no such rollout.
 */
export function planLostCopies(
  plan: RolloutPlan,
  stuck: StuckPins | undefined,
  workload: Workload,
  live: Lookup,
  policy: Policy,
  previous: ConfigView | undefined,
  moment: Moment,
): RolloutPlan {
  if (stuck === undefined || stuck.pinned !== workload.pinned) return plan;
  const names = [...stuck.earlier.keys()].sort();
  const substitute = substituteFor(plan, names, workload, live);
  if (substitute === undefined) return plan;
  const pins = new Map(pinsIn(workload.pinned));
  for (const name of names) {
    const copy = stuck.earlier.get(name);
    if (copy !== undefined && isReadable({ ...workload, pinned: `${name}=${copy}` }, live)) pins.set(name, copy);
    else if (substitute === "anything") pins.delete(name);
    else return plan;
  }
  const pinned = formatPins(pins);
  const { lookup } = pinnedLookup({ ...workload, pinned }, live, readAsCopy(workload, live, policy));
  const due = planDue(workload, lookup, policy, previous);
  if (due.outcome !== "roll") return plan;
  return {
    ...due,
    reason: `a pinned copy of ${formatConfigMaps(names)} was deleted, and a Pod cannot start without it`,
    returns: { pinned, rejected: workload.rejected, names, cause: "lostCopy" },
    consecutiveRollouts: nextConsecutiveRollouts(workload, moment),
  };
}

/** Returns what replaces lost copies; undefined if nothing must: the workload is not due, is rolled soon, or must not be rolled. */
function substituteFor(
  plan: RolloutPlan,
  names: readonly string[],
  workload: Workload,
  live: Lookup,
): Substitute | undefined {
  const { namespace } = workload;
  if (plan.outcome === "held") {
    if (keepChangesOut.includes(plan.hold.reason)) return "earlierCopy";
    return long.includes(plan.hold.reason) ? "anything" : undefined;
  }
  // Without its copy, rejected content would be rolled.
  const isRejected = names.some((name) =>
    rejectsLive(workload, live, configKey({ kind: "ConfigMap", namespace, name })),
  );
  return plan.outcome === "roll" && isRejected ? "earlierCopy" : undefined;
}

function isReadable(workload: Workload, live: Lookup): boolean {
  return pinnedLookup(workload, live, () => true).kept.size > 0;
}
