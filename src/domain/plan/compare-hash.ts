import { type Change, changesBetween, describeChanges } from "../config/changes.ts";
import { type ConfigView, matchesView, readRecordedHash, type UnprovenTimes } from "../config/hash.ts";
import { membershipChange, type TrackedViews, underCurrentKey } from "../config/tracked-view.ts";
import { hasSchedulingHold, isSchedulingHeld } from "../model/scheduling-hold.ts";
import type { Workload } from "../model/workload.ts";
import type { ExplainedDecision, RecordedCause } from "../outcomes/outcomes.ts";
import { isPinned } from "../pinning/pin-request.ts";
import type { Policy } from "../policy/policy.ts";
import { configKey } from "../references/references.ts";
import type { Evidence } from "./evidence.ts";
import { afterExistenceChanges, beforeReturn, withoutReturned, withReturned } from "./existence-changes.ts";
import { firstSightOf } from "./first-sight.ts";

/**
 * Decides what to do with a workload whose configuration is complete, by comparing its recorded hash with the views.
 * `previous` is as in `planRollout`. `evidence` returns undefined if nothing is known about the Pods.
 */
export function planComplete(
  workload: Workload,
  views: TrackedViews,
  policy: Policy,
  previous: ConfigView | undefined,
  evidence: () => Evidence | undefined = () => undefined,
): ExplainedDecision {
  const { tracked: view } = views;
  const { hash } = view;
  const needsCleanUp = hasSchedulingHold(workload);
  const lifted = needsCleanUp ? `${schedulingHoldRemoved}; ` : "";
  const { hashKeys: keys } = policy;
  const recorded = readRecordedHash(workload, view, keys);
  switch (recorded.state) {
    case "none": {
      if (needsCleanUp) return { outcome: "firstHash", hash, view, reason: schedulingHoldRemoved };
      const isRecorded = firstSightOf(workload, policy) === "record";
      // Only a hash in the pod template comes with pins.
      const shown = !isRecorded && isPinned(workload, policy) ? undefined : evidence();
      if (shown?.state === "proven") return record("proven", view, view, podsAreNewer);
      if (!isRecorded) return { outcome: "firstHash", hash, view, reason: "no hash is recorded yet", ...open(shown) };
      const recordedNow = record("firstSight", view, view, "Wave sees the workload for the first time");
      return { ...recordedNow, ...open(shown), ...(shown?.state === "unproven" && { unproven: timesOf(shown) }) };
    }
    case "foreign": {
      const reason = "the recorded hash is of another algorithm";
      if (workload.strategy.hasImmutableTemplate && !needsCleanUp) return record("firstSight", view, view, reason);
      return { outcome: "firstHash", hash, view, reason: lifted + reason };
    }
    case "unknownKey": {
      const reason = `${lifted}the recorded hash was made with key ${recorded.keyId}, which Wave does not have`;
      // Pending Pods are replaced when the scheduling hold is removed, so they start with the current hash.
      if (isSchedulingHeld(workload)) return { outcome: "firstHash", hash, view, reason };
      return record("key", view, view, reason);
    }
    case "current": {
      const reason = lifted + podsAreCurrent;
      if (isSchedulingHeld(workload)) return { outcome: "firstHash", hash, view, reason };
      if (recorded.keyExpires) {
        const kept = underCurrentKey(workload, views, keys);
        return record("key", kept, view, `${reason}, and the key of the recorded hash expires`);
      }
      if (views.asRecorded !== undefined) return recordClasses(view, reason);
      if (!needsCleanUp && recorded.unproven !== undefined) return planUnproven(view, recorded.unproven, evidence());
      if (!needsCleanUp) return { outcome: "current", view, reason };
      // A first hash would replace Pods.
      if (workload.recordedHash === undefined) return { outcome: "cleanUp", reason };
      return { outcome: "firstHash", hash: workload.recordedHash, view, reason };
    }
    case "outdated": {
      const { asRecorded } = views;
      if (asRecorded !== undefined && !isSchedulingHeld(workload) && matchesView(recorded.hash, asRecorded, keys))
        return recordClasses(view, lifted + podsAreCurrent);
      const recordedView =
        previous !== undefined && matchesView(recorded.hash, previous, keys)
          ? previous
          : beforeReturn(recorded.hash, view, policy);
      const decided = planOutdated(workload, views, policy, recordedView, evidence);
      const isLiftedRoll = needsCleanUp && decided.outcome === "roll";
      return { ...decided, reason: lifted + decided.reason, ...(isLiftedRoll && { prefix: lifted }) };
    }
  }
}

const schedulingHoldRemoved = "the configuration is complete and the scheduling hold is removed";
const podsAreCurrent = "the Pods read the current configuration";
const podsAreNewer = "the Pods have read it after its last change";

/** Plans a workload whose recorded configuration is the current one, although nothing has shown that its Pods read it. */
function planUnproven(view: ConfigView, unproven: UnprovenTimes, evidence: Evidence | undefined): ExplainedDecision {
  if (evidence?.state === "proven") return record("proven", view, view, podsAreNewer);
  return { outcome: "current", view, unproven, ...open(evidence), reason: "nothing shows what its Pods read" };
}

/** Returns what may still show that the Pods read what is live. */
function open(evidence: Evidence | undefined): { readonly unlisted?: true; readonly underWay?: true } {
  if (evidence?.state === "unlisted") return { unlisted: true };
  return evidence?.state === "underWay" ? { underWay: true } : {};
}

function timesOf({ changedAt, podsAt }: UnprovenTimes): UnprovenTimes {
  return { changedAt, podsAt };
}

/**
 * Records other versions of SecretProviderClasses without a rollout. Versions are known only after Pods have mounted them, so
 * the Pods have these versions. A class that flags or annotations no longer track replaces no Pods either.
 */
function recordClasses(view: ConfigView, reason: string): ExplainedDecision {
  return record("firstSight", view, view, `${reason}; the recorded versions of SecretProviderClasses are updated`);
}

function record(cause: RecordedCause, view: ConfigView, newPods: ConfigView, reason: string): ExplainedDecision {
  return { outcome: "recorded", cause, hash: newPods.hash, view: withoutReturned(view), newPods, reason };
}

/**
 * Plans a workload whose Pods read another configuration than new Pods would, or for which other objects are tracked now.
 * `recordedView` is the view of the recorded hash, if it is known.
 */
function planOutdated(
  workload: Workload,
  views: TrackedViews,
  policy: Policy,
  recordedView: ConfigView | undefined,
  evidence: () => Evidence | undefined,
): ExplainedDecision {
  const { tracked: view, untracked } = views;
  const { hash } = view;
  const isPending = isSchedulingHeld(workload);
  const same = isPending ? undefined : membershipChange(workload, views, recordedView, policy.hashKeys);
  if (same !== undefined)
    return record(
      "tracking",
      same,
      view,
      "the set of tracked objects changed, but not the configuration that the Pods read",
    );
  const isTracked = (change: Change) => !untracked.has(configKey(change));
  const changes = recordedView && changesBetween(recordedView, view).filter(isTracked);
  const kept =
    recordedView === undefined || changes === undefined || isPending
      ? undefined
      : afterExistenceChanges(workload, recordedView, view, changes, policy);
  if (kept !== undefined && changes !== undefined) {
    const described = describeChanges(changes, workload.namespace);
    return record("tracking", kept, kept, `${described}, which alone does not replace Pods`);
  }
  // Pods of a pinned workload read copies.
  const shown = isPending || isPinned(workload, policy) ? undefined : evidence();
  if (shown?.state === "proven") return record("proven", view, view, podsAreNewer);
  const changed = changes?.length ? withReturned(changes, view.removed) : undefined;
  return { outcome: "roll", hash, view, changed, reason: describeChanges(changed, workload.namespace), ...open(shown) };
}
