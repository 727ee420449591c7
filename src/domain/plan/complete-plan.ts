import { type Change, changesBetween } from "../config/changes.ts";
import type { ConfigView } from "../config/hash.ts";
import { describeChanges } from "../config/messages.ts";
import { readRecorded, standsFor } from "../config/recorded.ts";
import { notedAnew, toggled, type Views } from "../config/tracked-view.ts";
import type { Reasoned } from "../decision/decision.ts";
import { hasSchedulingHold, isSchedulingHeld } from "../model/scheduling-hold.ts";
import type { Workload } from "../model/workload.ts";
import type { HashKeys } from "../policy/hash-key.ts";
import type { Policy } from "../policy/policy.ts";
import { configKey } from "../references/references.ts";
import { merelyCameOrWent } from "./existence-changes.ts";
import { firstSightOf } from "./first-sight.ts";

/**
 * What to do with a workload whose configuration is complete, by what its recorded hash tells of the one that its Pods see.
 * `previous` is as in `planRollout`.
 */
export function planComplete(
  workload: Workload,
  views: Views,
  policy: Policy,
  keys: HashKeys | undefined,
  previous: ConfigView | undefined,
): Reasoned {
  const { counted: view } = views;
  const { hash } = view;
  const schedulingHeld = hasSchedulingHold(workload);
  const restored = "configuration is complete and its scheduler is restored";
  const lifted = schedulingHeld ? `${restored}; ` : "";
  const recorded = readRecorded(workload, view, keys);
  switch (recorded.tells) {
    case "nothing": {
      if (!schedulingHeld && firstSightOf(workload, policy) === "record") {
        const reason = "it is seen for the first time";
        return { outcome: "recorded", because: "first", hash, view, newPods: view, reason };
      }
      const reason = schedulingHeld ? restored : "no hash is recorded yet";
      return { outcome: "firstHash", hash, view, reason };
    }
    case "foreign":
      if (workload.rolledBy === "replacement" && !schedulingHeld) {
        const reason = "the recorded hash is of another algorithm";
        return { outcome: "recorded", because: "first", hash, view, newPods: view, reason };
      }
      return { outcome: "firstHash", hash, view, reason: `${lifted}the recorded hash is of another algorithm` };
    case "unknown": {
      const reason = `${lifted}the recorded hash is under the key ${recorded.keyId}, which Wave does not have`;
      // Pods that were held are replaced when their gate opens, so they begin with the current hash.
      if (isSchedulingHeld(workload)) return { outcome: "firstHash", hash, view, reason };
      return { outcome: "recorded", because: "key", hash, view, newPods: view, reason };
    }
    case "same": {
      const reason = `${lifted}its Pods see the current configuration`;
      if (isSchedulingHeld(workload)) return { outcome: "firstHash", hash, view, reason };
      if (views.asNoted !== undefined && !recorded.fading) return otherClasses(view, reason);
      if (recorded.fading) {
        const noted = notedAnew(workload, views, keys);
        return {
          outcome: "recorded",
          because: "key",
          hash,
          view: noted,
          newPods: view,
          reason: `${reason}, and its key is no longer kept`,
        };
      }
      if (!schedulingHeld) return { outcome: "current", view, reason };
      // To write a hash where there is none would replace Pods.
      if (workload.recordedHash === undefined) return { outcome: "cleanUp", reason };
      return { outcome: "firstHash", hash: workload.recordedHash ?? hash, view, reason };
    }
    case "other": {
      const { asNoted } = views;
      if (asNoted !== undefined && !isSchedulingHeld(workload) && standsFor(recorded.hash, asNoted, keys)) {
        return otherClasses(view, `${lifted}its Pods see the current configuration`);
      }
      const seen = previous !== undefined && standsFor(recorded.hash, previous, keys) ? previous : undefined;
      const decided = planChanged(workload, views, policy, keys, seen);
      return { ...decided, reason: lifted + decided.reason };
    }
  }
}

/**
 * What SecretProviderClasses fetch is known once Pods have mounted them, so that is what these have; and that one no longer
 * counts, because flags or annotations say so, replaces nobody.
 */
function otherClasses(view: ConfigView, reason: string): Reasoned {
  const { hash } = view;
  const noted = "and which versions of SecretProviderClasses that includes is noted anew";
  return { outcome: "recorded", because: "first", hash, view, newPods: view, reason: `${reason}, ${noted}` };
}

/**
 * Its Pods see another configuration than new ones would, or others of its objects count now. `seen` is what the recorded
 * hash stands for, where that is known.
 */
function planChanged(
  workload: Workload,
  views: Views,
  policy: Policy,
  keys: HashKeys | undefined,
  seen: ConfigView | undefined,
): Reasoned {
  const { counted: view, leftOut } = views;
  const { hash } = view;
  const same = isSchedulingHeld(workload) ? undefined : toggled(workload, views, seen, keys);
  if (same !== undefined) {
    const reason = "other objects count than those that its hash was made from, and its Pods see the same of these";
    return { outcome: "recorded", because: "count", hash, view: same, newPods: view, reason };
  }
  const counted = (change: Change) => !leftOut.has(configKey(change));
  const changes = seen && changesBetween(seen, view).filter(counted);
  if (
    changes !== undefined &&
    !isSchedulingHeld(workload) &&
    merelyCameOrWent(workload, changes, policy.compatibility)
  ) {
    const reason = `${describeChanges(changes, workload.namespace)}, which alone replaces none of its Pods`;
    return { outcome: "recorded", because: "count", hash, view, newPods: view, reason };
  }
  const changed = changes?.length === 0 ? undefined : changes;
  const what = changed
    ? describeChanges(changed, workload.namespace)
    : "configuration changed since its hash was recorded";
  return { outcome: "roll", hash, view, changed, reason: what };
}
