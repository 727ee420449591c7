import type { Lookup } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload.ts";
import type { Policy } from "../policy/policy.ts";
import { readAsCopy } from "./pin-request.ts";
import { pinnedLookup } from "./pinned-lookup.ts";
import { pinsIn } from "./pins.ts";
import { formatRejected, parseRejected, rejectionDigest } from "./rejections.ts";

/** An undo: the pod template names the copies of an earlier revision again. */
export interface Undo {
  /** The annotation of rejected content after the undo. */
  readonly rejected: string | undefined;
  /** The ConfigMaps whose live content is rejected, sorted. */
  readonly names: readonly string[];
  /** Finds what the Pods of the earlier revision read. */
  readonly lookup: Lookup;
}

/** What a workload had, and read, before an undo. */
type BeforeUndo = Pick<Workload, "pinned" | "rejected" | "references">;

/**
 * Returns what an undo rejects. `workload` names other copies than before, all of them exist, and the live content of at least one of
 * these ConfigMaps differs from its copy. Undefined if it is no undo: for example a reinvocation, in which nothing differs. What was rejected
 * before and still is live stays rejected, also if the undo removed its annotation. A ConfigMap that is read live now is not undone.
 */
export function undoOf(workload: Workload, beforeUndo: BeforeUndo, live: Lookup, policy: Policy): Undo | undefined {
  if (workload.pinned === undefined || workload.pinned === beforeUndo.pinned) return undefined;
  const { lookup, kept, unusable } = pinnedLookup(workload, live, readAsCopy(workload, live, policy));
  if (unusable.length > 0) return undefined;
  const pins = pinsIn(workload.pinned);
  const before = pinsIn(beforeUndo.pinned);
  // The digest of the same content depends on what the pod template reads.
  const wasRejected = (name: string) =>
    [workload, { ...workload, ...beforeUndo }].some(
      (each) => parseRejected(each.rejected).get(name) === rejectionDigest(each, live, name),
    );
  const rejected = new Map<string, string>();
  const names: string[] = [];
  for (const name of kept) {
    const digest = rejectionDigest(workload, live, name);
    if (digest === rejectionDigest(workload, lookup, name)) continue;
    const isReturned = pins.get(name) !== before.get(name);
    if (isReturned) names.push(name);
    if (isReturned || wasRejected(name)) rejected.set(name, digest);
  }
  return names.length === 0 ? undefined : { rejected: formatRejected(rejected), names: names.sort(), lookup };
}

/**
 * Returns the undo that a controller sees without webhooks: the Pods had other pins when it last saw the workload, and the live content is
 * still the content of the copies that they had, as far as they read it. An edit that followed is a new change, which is not rejected.
 */
export function undoSince(workload: Workload, beforeUndo: BeforeUndo, live: Lookup, policy: Policy): Undo | undefined {
  const undo = undoOf(workload, beforeUndo, live, policy);
  if (undo === undefined) return undefined;
  const before = { ...workload, ...beforeUndo };
  const copies = pinnedLookup(before, live, () => true).lookup;
  const wasRolled = (name: string) => rejectionDigest(before, live, name) === rejectionDigest(before, copies, name);
  return undo.names.every(wasRolled) ? undo : undefined;
}
