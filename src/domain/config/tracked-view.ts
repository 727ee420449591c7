import type { Workload } from "../model/workload-shape.ts";
import type { HashKeys } from "../policy/hash-key.ts";
import { configKey } from "../references/references.ts";
import { type Change, changesBetween } from "./changes.ts";
import { type ConfigView, matchesView, recordedConfigFor, viewOf } from "./hash.ts";
import type { RecordedClasses } from "./recorded-digests.ts";
import type { TrackedReferences } from "./tracked-references.ts";
import { limitExceededBy, viewOfReferences } from "./view-of-references.ts";

/** The views of a workload: what new Pods would read, of tracked objects and of all objects. */
export interface TrackedViews {
  /** The view of tracked objects. It contains the full hash if that differs. */
  readonly tracked: ConfigView;
  /** The view of all objects, tracked or not; undefined if it exceeds a limit. */
  readonly full: ConfigView | undefined;
  /**
   * The tracked view with only the recorded SecretProviderClasses: without classes that have no recorded version yet, and with
   * recorded classes that are no longer referenced. Undefined if it equals `tracked`.
   */
  readonly asRecorded: ConfigView | undefined;
  /** Why objects are not tracked, by the key of the object. */
  readonly untracked: TrackedReferences["untracked"];
}

/** Returns the views of what new Pods would read, hashed with the current key. */
export function trackedViews(
  { references, all, untracked, lookup }: TrackedReferences,
  keys: HashKeys | undefined,
  classes: RecordedClasses,
): TrackedViews {
  const { view, asRecorded } = withRecordedClasses(references, lookup, keys, classes);
  if (untracked.size === 0) return { tracked: view, full: view, asRecorded, untracked };
  const full = limitExceededBy(all, lookup) === undefined ? viewOfReferences(all, lookup, keys?.current) : undefined;
  const differs = full !== undefined && full.hash !== view.hash;
  return { tracked: differs ? { ...view, fullHash: full.hash } : view, full, asRecorded, untracked };
}

/** Returns the view of the references with the class versions to record, and the view of the recorded classes only. */
function withRecordedClasses(
  references: TrackedReferences["references"],
  lookup: TrackedReferences["lookup"],
  keys: HashKeys | undefined,
  { isUnrecorded, dropped, toRecord }: RecordedClasses,
): { readonly view: ConfigView; readonly asRecorded: ConfigView | undefined } {
  const view = viewOfReferences(references, lookup, keys?.current);
  const [recordedClasses, droppedEntries] = [toRecord(references), dropped(references)];
  if (recordedClasses === undefined && droppedEntries.length === 0) return { view, asRecorded: undefined };
  const recorded = view.entries.filter((entry) => !isUnrecorded(entry));
  const isSame = recorded.length === view.entries.length && droppedEntries.length === 0;
  return {
    view: { ...view, recordedClasses },
    asRecorded: isSame ? undefined : viewOf([...recorded, ...droppedEntries], keys?.current),
  };
}

/**
 * Returns the tracked view to record if the recorded hash differs from it only because other objects are tracked now, for
 * example because an object is ignored or excluded, or no longer is. The Pods still read the same configuration. Returns
 * undefined if the Pods read another configuration, or if this is unknown.
 *
 * `recordedView` is the view of the recorded hash, if it is known. Then changes of untracked objects are allowed: the Pods keep
 * what they read of such an object, and are replaced when the object is tracked again.
 */
export function membershipChange(
  workload: Workload,
  { tracked, full, untracked }: TrackedViews,
  recordedView: ConfigView | undefined,
  keys: HashKeys | undefined,
): ConfigView | undefined {
  const recorded = recordedFullHash(workload);
  if (recorded === undefined) return undefined;
  const isFullRecorded = untracked.size === 0 && recorded.source !== "fullHash";
  if (!isFullRecorded && full !== undefined && matchesView(recorded.hash, full, keys)) return tracked;
  const unchanged = untracked.size > 0 ? { ...tracked, fullHash: recorded.hash } : tracked;
  // The hash was written for this same configuration before the annotation, and could not be written again.
  const { recordedHash = "" } = workload;
  if (recorded.source === "fullHash" && recordedHash === tracked.hash) return unchanged;
  if (recorded.source === "fullHash" && matchesView(recordedHash, tracked, keys)) return unchanged;
  const isUntracked = (change: Change) => untracked.has(configKey(change));
  if (recordedView === undefined || !changesBetween(recordedView, tracked).every(isUntracked)) return undefined;
  return unchanged;
}

/**
 * Returns the tracked view to record under the current key. It keeps the recorded full hash, even if untracked objects have
 * changed since.
 */
export function underCurrentKey(
  workload: Workload,
  { tracked, full }: TrackedViews,
  keys: HashKeys | undefined,
): ConfigView {
  const recorded = recordedFullHash(workload);
  if (recorded === undefined || (full !== undefined && matchesView(recorded.hash, full, keys))) return tracked;
  return { ...tracked, fullHash: recorded.hash };
}

/** A recorded hash of all objects that the Pods read, tracked or not. */
interface RecordedFullHash {
  readonly hash: string;
  /** The recorded full hash; or the hash in the annotation or in the pod template, from when all objects were tracked. */
  readonly source: "fullHash" | "recordedConfig" | "template";
}

function recordedFullHash({ recordedHash, recordedConfig }: Workload): RecordedFullHash | undefined {
  const config = recordedConfigFor(recordedHash ?? "", recordedConfig);
  if (config === undefined) return recordedHash === undefined ? undefined : { hash: recordedHash, source: "template" };
  if (config.fullHash === undefined) return { hash: config.hash, source: "recordedConfig" };
  return { hash: config.fullHash, source: "fullHash" };
}
