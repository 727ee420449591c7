import type { Change } from "../config/changes.ts";
import { type ConfigView, matchesView, type RemovedObjects, recordedConfigFor, viewOf } from "../config/hash.ts";
import type { TrackedViews } from "../config/tracked-view.ts";
import type { Workload } from "../model/workload.ts";
import type { Policy } from "../policy/policy.ts";
import { configKey } from "../references/references.ts";

/** Limit of removed objects whose hashes are recorded. With more, their removal replaces Pods. */
const maxRemoved = 50;

/** Returns the views with the removed objects that are recorded, so that each write keeps them until a rollout. */
export function withRemoved(views: TrackedViews, { recordedHash = "", recordedConfig }: Workload): TrackedViews {
  const removed = recordedConfigFor(recordedHash, recordedConfig)?.removed;
  return removed === undefined ? views : { ...views, tracked: { ...views.tracked, removed } };
}

/** Returns the view of the recorded hash `recorded`, if it is `view` without removed objects that have returned. */
export function beforeReturn(recorded: string, view: ConfigView, { hashKeys }: Policy): ConfigView | undefined {
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
export function afterExistenceChanges(
  { peer }: Workload,
  before: ConfigView,
  view: ConfigView,
  changes: readonly Change[],
  { compatibility, hashKeys }: Policy,
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
export function withoutReturned(view: ConfigView): ConfigView {
  if (view.removed === undefined) return view;
  const present = new Set(view.entries.map(configKey));
  const removed = new Map([...view.removed].filter(([key]) => !present.has(key)));
  return { ...view, removed: removed.size === 0 ? undefined : removed };
}

/** Returns the changes as people see them: an object that returns with other content has changed. */
export function withReturned(changes: readonly Change[], removed: RemovedObjects | undefined): readonly Change[] {
  return changes.map((each) =>
    each.how === "added" && removed?.has(configKey(each)) ? { ...each, how: "changed" } : each,
  );
}
