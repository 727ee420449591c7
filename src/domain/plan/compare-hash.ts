import {
  type ConfigView,
  matchesView,
  type RemovedObjects,
  readRecordedHash,
  recordedConfigFor,
  type UnprovenTimes,
  viewOf,
} from "../config/hash.ts";
import { membershipChange, type TrackedViews, underCurrentKey } from "../config/tracked-view.ts";
import { type Change, changesBetween, describeChanges } from "../config/view-of-references.ts";
import { hasSchedulingHold, isSchedulingHeld } from "../model/scheduling-hold.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { ExplainedDecision, RecordedCause } from "../outcomes/outcomes.ts";
import { isPinned } from "../pinning/pin-request.ts";
import type { Rules } from "../policy/rules.ts";
import { configKey } from "../references/references.ts";
import type { Evidence } from "./evidence.ts";

/**
 * Decides what to do with a workload whose configuration is complete, by comparing its recorded hash with the views.
 * `previous` is as in `planRollout`. `evidence` returns undefined if nothing is known about the Pods.
 */
export function planComplete(
  workload: Workload,
  views: TrackedViews,
  rules: Rules,
  previous: ConfigView | undefined,
  evidence: () => Evidence | undefined = () => undefined,
): ExplainedDecision {
  const { tracked: view } = views;
  const { hash } = view;
  const needsCleanUp = hasSchedulingHold(workload);
  const lifted = needsCleanUp ? `${schedulingHoldRemoved}; ` : "";
  const { hashKeys: keys } = rules;
  const recorded = readRecordedHash(workload, view, keys);
  switch (recorded.state) {
    case "none": {
      if (needsCleanUp) return { outcome: "firstHash", hash, view, reason: schedulingHoldRemoved };
      const isRecorded = firstSightOf(workload, rules) === "record";
      // Only a hash in the pod template comes with pins.
      const shown = !isRecorded && isPinned(workload, rules) ? undefined : evidence();
      if (shown?.state === "proven") return record("proven", view, view, podsAreNewer);
      if (!isRecorded) return { outcome: "firstHash", hash, view, reason: "no hash is recorded yet", ...open(shown) };
      const recordedNow = record("firstSight", view, view, "Wave sees the workload for the first time");
      return { ...recordedNow, ...open(shown), ...unprovenBy(shown) };
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
      // What was recorded beside the pod template is another hash, which would replace Pods.
      if (recorded.hash !== workload.recordedHash) return { outcome: "cleanUp", newPods: view, reason };
      return { outcome: "firstHash", hash: recorded.hash, view, reason };
    }
    case "outdated": {
      const { asRecorded } = views;
      if (asRecorded !== undefined && !isSchedulingHeld(workload) && matchesView(recorded.hash, asRecorded, keys))
        return recordClasses(view, lifted + podsAreCurrent);
      const recordedView =
        previous !== undefined && matchesView(recorded.hash, previous, keys)
          ? previous
          : beforeReturn(recorded.hash, view, rules);
      const decided = planOutdated(workload, views, rules, recordedView, evidence);
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
function open(evidence: Evidence | undefined): { readonly unlisted?: number; readonly underWay?: true } {
  if (evidence?.state === "unlisted") return { unlisted: evidence.upTo };
  return evidence?.state === "underWay" ? { underWay: true } : {};
}

/** Returns what is recorded with a configuration that nothing proves yet. A rollout that is under way may prove it, and may be undone. */
function unprovenBy(evidence: Evidence | undefined): { readonly unproven?: UnprovenTimes } {
  if (evidence === undefined || evidence.state === "proven") return {};
  if (evidence.state === "unlisted") return { unproven: { changedAt: 0, podsAt: 0 } };
  const { changedAt, podsAt } = evidence;
  return { unproven: { changedAt, podsAt } };
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
  rules: Rules,
  recordedView: ConfigView | undefined,
  evidence: () => Evidence | undefined,
): ExplainedDecision {
  const { tracked: view, untracked } = views;
  const { hash } = view;
  const isPending = isSchedulingHeld(workload);
  const same = isPending ? undefined : membershipChange(workload, views, recordedView, rules.hashKeys);
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
      : afterExistenceChanges(workload, recordedView, view, changes, rules);
  if (kept !== undefined && changes !== undefined) {
    const described = describeChanges(changes, workload.namespace);
    return record("tracking", kept, kept, `${described}, which alone does not replace Pods`);
  }
  // Pods of a pinned workload read copies.
  const shown = isPending || isPinned(workload, rules) ? undefined : evidence();
  if (shown?.state === "proven") return record("proven", view, view, podsAreNewer);
  const changed = changes?.length ? withReturned(changes, view.removed) : undefined;
  return { outcome: "roll", hash, view, changed, reason: describeChanges(changed, workload.namespace), ...open(shown) };
}

/**
 * Returns how to treat a running workload that Wave has not seen before. "roll": write a hash, which replaces the Pods once. "record": record the
 * current configuration as what the Pods read, without a rollout. A Pod template that cannot be changed gets no hash before its configuration
 * changes. Otherwise the annotation decides, then the flag, then the compatibility: Stakater Reloader replaces no Pods before
 * a change, the other controllers do.
 */
function firstSightOf(workload: Workload, rules: Rules): "roll" | "record" {
  if (workload.strategy.hasImmutableTemplate) return "record";
  return rules.firstSight ?? (workload.peer?.compatibility.includes("stakater") ? "record" : "roll");
}

/** Limit of removed objects whose hashes are recorded. With more, their removal replaces Pods. */
const maxRemoved = 50;

/** Returns the views with the removed objects that are recorded, so that each write keeps them until a rollout. */
export function withRemoved(views: TrackedViews, { recordedHash = "", recordedConfig }: Workload): TrackedViews {
  const removed = recordedConfigFor(recordedHash, recordedConfig)?.removed;
  return removed === undefined ? views : { ...views, tracked: { ...views.tracked, removed } };
}

/** Returns the view of the recorded hash `recorded`, if it is `view` without removed objects that have returned. */
function beforeReturn(recorded: string, view: ConfigView, { hashKeys }: Rules): ConfigView | undefined {
  const { removed } = view;
  if (removed === undefined) return undefined;
  const before = viewOf(
    view.entries.filter((entry) => !removed.has(configKey(entry))),
    hashKeys?.current,
  );
  return matchesView(recorded, before, hashKeys) ? before : undefined;
}

/**
 * Returns the view to record if all changes since `before` are additions or removals of objects that only annotations of Stakater Reloader
 * name. Reloader does not roll for these unless its flags say so. A removal is no change, so the hash of the removed object stays recorded:
 * an object that returns with other content is one. Returns undefined if the changes replace Pods.
 */
function afterExistenceChanges(
  { peer }: Workload,
  before: ConfigView,
  view: ConfigView,
  changes: readonly Change[],
  { compatibility, hashKeys }: Rules,
): ConfigView | undefined {
  if (compatibility === undefined || peer?.compatibility.join() !== "stakater") return undefined;
  const removed = new Map(view.removed);
  for (const change of changes) {
    const key = configKey(change);
    const partOf = ({ entries }: ConfigView) =>
      viewOf(
        entries.filter((entry) => configKey(entry) === key),
        hashKeys?.current,
      );
    if (change.how === "changed") return undefined;
    if (change.how === "removed") {
      if (compatibility.reloadOnDelete) return undefined;
      removed.set(key, partOf(before).hash);
    } else {
      const last = removed.get(key);
      if (compatibility.reloadOnCreate || (last !== undefined && !matchesView(last, partOf(view), hashKeys)))
        return undefined;
    }
  }
  return removed.size > maxRemoved ? undefined : { ...view, removed };
}

/** Returns the view to record: an object that has returned is no longer removed. */
function withoutReturned(view: ConfigView): ConfigView {
  if (view.removed === undefined) return view;
  const present = new Set(view.entries.map(configKey));
  const removed = new Map([...view.removed].filter(([key]) => !present.has(key)));
  return { ...view, removed: removed.size === 0 ? undefined : removed };
}

/** Returns the changes as people see them: an object that returns with other content has changed. */
function withReturned(changes: readonly Change[], removed: RemovedObjects | undefined): readonly Change[] {
  return changes.map((each) =>
    each.how === "added" && removed?.has(configKey(each)) ? { ...each, how: "changed" } : each,
  );
}
