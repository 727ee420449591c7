import type { Lookup } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload.ts";
import { holdRows } from "../pacing/holds.ts";
import { isPinned } from "../pinning/pin-request.ts";
import { keptWithoutKey } from "../pinning/pin-texts.ts";
import { pinsIn } from "../pinning/pins.ts";
import { readablePins } from "../pinning/readable-pins.ts";
import type { Policy } from "../policy/policy.ts";
import type { RolloutPlan } from "./plan.ts";

/**
 * Adds a warning to a held plan if new Pods cannot start, because a copy that the pod template names lacks a required key. Without webhooks, a
 * template change of another client keeps such a pin. Only a rollout to the held change would replace the pin.
 */
export function warnOfStuckTemplate(plan: RolloutPlan, workload: Workload, live: Lookup, policy: Policy): RolloutPlan {
  if (plan.outcome !== "held" || holdRows[plan.hold.reason].isShort || !isPinned(workload, policy)) return plan;
  const { live: unreadable } = readablePins(workload, undefined, live);
  const pins = pinsIn(workload.pinned);
  const exists = (copy = "") => live("ConfigMap", workload.namespace, copy)?.isCopy === true;
  const names = unreadable.filter((name) => exists(pins.get(name)));
  return names.length === 0 ? plan : { ...plan, warnings: [...plan.warnings, keptWithoutKey(names)] };
}
