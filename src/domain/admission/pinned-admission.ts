// What a request does to the pins of a workload: which copies stay, and whether it is an undo. Pure.
import type { Lookup } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload-shape.ts";
import { isApproved } from "../pacing/requested-holds.ts";
import { setRejected } from "../patch/workload-patch.ts";
import { isPinned, keptPins, readAsCopy, rolledBack, undoWithoutPins, unusableCopies } from "../pinning/pin-request.ts";
import { pinnedLookup, pinsIn } from "../pinning/pinned-lookup.ts";
import { carriedRejections, rejectionDigest, undoOf } from "../pinning/rejections.ts";
import { planRollout } from "../plan/plan.ts";
import type { Rules } from "../policy/rules.ts";
import { type Annotations, annotationPrefix, rejectedConfigMaps, writtenByWave } from "../references/annotations.ts";
import type { Warning } from "../references/warning.ts";
import { annotationPointer, type JsonPatchOperation } from "../syntax/json.ts";

/** A request with the pins that its workload will have. */
interface PinnedRequest {
  readonly workload: Workload;
  /** Finds what new Pods of the request read. */
  readonly lookup: Lookup;
  /** Whether the request returns to the pins of an earlier revision. */
  readonly isUndo: boolean;
  /** Records what an undo rejects. */
  readonly operations: readonly JsonPatchOperation[];
  readonly warnings: readonly Warning[];
}

/** Reports whether the change of a ConfigMap that a workload reads is halted for it, after others failed with the change. */
export type HaltLookup = (workload: Workload, name: string) => boolean;

/**
 * Returns what a request does to pins. An undo names other copies than the workload before, and all of them exist: its new Pods read these
 * copies, and the live content of each changed ConfigMap is rejected. Any other request keeps the copies of a ConfigMap whose live content
 * may not be rolled yet: it is on hold, not approved, halted, or rejected. `replacesPods`: the request changes the pod template.
 */
export function pinnedRequest(
  workload: Workload,
  before: Workload | undefined,
  lookup: Lookup,
  rules: Rules,
  replacesPods: boolean,
  isHalted: HaltLookup,
): PinnedRequest {
  const live: PinnedRequest = { workload, lookup, isUndo: false, operations: [], warnings: [] };
  if (before === undefined || !isPinned(workload, rules)) return live;
  if (workload.pinned !== undefined && workload.pinned !== before.pinned) {
    const all = pinnedLookup(workload, lookup, readAsCopy(workload, lookup, rules));
    if (all.unusable.length > 0) return { ...live, warnings: [unusableCopies(all.unusable)] };
    const undo = undoOf(workload, before, lookup, rules);
    if (undo === undefined) {
      // In a reinvocation, the pins are those that the first review wrote.
      const isHaltedHere = (name: string) => differs(workload, lookup, all.lookup, name) && isHalted(workload, name);
      const isHeld = heldChanges(workload, lookup, rules, isHaltedHere);
      const [written, earlier] = [pinsIn(workload.pinned), pinsIn(before.pinned)];
      const isKept = (name: string) => written.get(name) === earlier.get(name) && isHeld(name);
      return withCopies(live, workload, before, rules, isKept);
    }
    return {
      workload: { ...workload, rejected: undo.rejected },
      lookup: undo.lookup,
      isUndo: true,
      operations: setRejected(workload, undo.rejected),
      warnings: [rolledBack(undo.names)],
    };
  }
  if (before.pinned === undefined) return live;
  // A client that replaces the whole template removes the pins, as it removes the hash.
  const isUndoWithoutPins =
    workload.pinned === undefined &&
    workload.recordedHash !== undefined &&
    workload.recordedHash !== before.recordedHash;
  if (isUndoWithoutPins) return { ...live, warnings: [undoWithoutPins] };
  const copies = pinnedLookup(before, lookup, () => true).lookup;
  const isHaltedHere = (name: string) =>
    replacesPods && differs(before, lookup, copies, name) && isHalted(workload, name);
  // `kubectl rollout undo` of a Deployment replaces the annotation. People remove it without new Pods.
  const rejections = replacesPods ? [workload.rejected, before.rejected] : [workload.rejected];
  const heldFor = (of: Workload) => heldChanges(of, lookup, rules, isHaltedHere);
  const isHeldBefore = heldFor(workload);
  const rollsLive = (name: string) => replacesPods && !isHeldBefore(name);
  const carried = carriedRejections({ ...workload, pinned: before.pinned }, rejections, before, lookup, rollsLive);
  const restored = { ...workload, pinned: before.pinned, rejected: carried.rejected };
  const request = { ...live, operations: setRejected(workload, carried.rejected) };
  return withCopies(request, restored, before, rules, heldFor(restored), carried.unusable);
}

/** Returns a request whose new Pods read the copies of the ConfigMaps that are held. The copies were stored for `before`. `unread` are rejected ConfigMaps without a copy. */
function withCopies(
  request: PinnedRequest,
  workload: Workload,
  before: Workload,
  rules: Rules,
  isHeld: (name: string) => boolean,
  unread: readonly string[] = [],
): PinnedRequest {
  const canBeRead = readAsCopy(workload, request.lookup, rules);
  const keeps = (name: string) => isHeld(name) && canBeRead(name);
  const { lookup, kept, unusable } = pinnedLookup(workload, request.lookup, keeps, before);
  const changed = [...kept].filter((name) => differs(workload, request.lookup, lookup, name));
  const live = [...new Set([...unusable, ...unread])].sort();
  const warnings = [
    ...(changed.length > 0 ? [keptPins(changed)] : []),
    ...(live.length > 0 ? [unusableCopies(live)] : []),
  ];
  return { ...request, workload, lookup, warnings };
}

/** Returns the ConfigMaps, by name, whose live content may not be rolled yet. */
function heldChanges(
  workload: Workload,
  lookup: Lookup,
  rules: Rules,
  isHalted: (name: string) => boolean,
): (name: string) => boolean {
  if (isHeld(workload, lookup, rules)) return () => true;
  return (name) => {
    const directive = lookup("ConfigMap", workload.namespace, name)?.directive;
    return directive === "hold" || directive === "unclear" || isHalted(name);
  };
}

/** Reports whether no change of the configuration may be rolled. */
function isHeld(workload: Workload, lookup: Lookup, rules: Rules): boolean {
  if (rules.clusterHold !== undefined || rules.hold.value || rules.invalid.length > 0 || rules.mode.value === "observe")
    return true;
  if (rules.mode.value !== "approve") return false;
  const plan = planRollout(workload, lookup, rules);
  // A change that removes a required key, or exceeds a limit, is not approved either.
  if (plan.outcome === "waiting" || plan.outcome === "overLimit") return true;
  return "hash" in plan && !isApproved(workload, rules, plan.hash);
}

function differs(workload: Workload, live: Lookup, pinned: Lookup, name: string): boolean {
  return rejectionDigest(workload, live, name) !== rejectionDigest(workload, pinned, name);
}

/**
 * Returns the annotations of an undone workload: `kubectl rollout undo` of a Deployment replaces them by those of the old ReplicaSet. What
 * people wrote for Wave stays as it was before the request.
 */
export function withUserAnnotations(requested: Annotations, before: Annotations): Annotations {
  const isOfUser = (name: string) =>
    name.startsWith(annotationPrefix) && (!writtenByWave.includes(name) || name === rejectedConfigMaps);
  const others = Object.entries(requested).filter(([name]) => !isOfUser(name));
  return Object.fromEntries([...others, ...Object.entries(before).filter(([name]) => isOfUser(name))]);
}

/** Returns the operations that change some annotations of a workload to others. */
export function annotationOperations(from: Annotations, to: Annotations): readonly JsonPatchOperation[] {
  const removed = Object.keys(from).filter((name) => to[name] === undefined);
  const set = Object.entries(to).filter(([name, value]) => from[name] !== value);
  return [
    ...removed.map((name) => ({ op: "remove", path: annotationPointer(name) }) as const),
    ...set.map(([name, value]) => ({ op: "add", path: annotationPointer(name), value }) as const),
  ];
}
