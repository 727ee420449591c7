// What a request does to the pins of a workload: which copies stay, and whether it is an undo. Pure.
import type { Lookup } from "./config/view.ts";
import type { Workload } from "./model/workload.ts";
import { isApproved } from "./pacing/requested-holds.ts";
import { setRejected } from "./patch/workload-patch.ts";
import { isPinned, readAsCopy } from "./pinning/pin-request.ts";
import {
  carriedRejections,
  pinnedLookup,
  rejectionDigest,
  rolledBack,
  unusableCopies,
} from "./pinning/pinned-lookup.ts";
import { undoOf } from "./pinning/undo.ts";
import { planRollout } from "./plan/plan.ts";
import type { Policy } from "./policy/policy.ts";
import { rolloutPolicyOf } from "./policy/rollout-policy.ts";
import { annotationPrefix, rejectedConfigMaps, writtenByWave } from "./references/annotations.ts";
import type { Warning } from "./references/warning.ts";
import type { Annotations } from "./references/wave-annotations.ts";
import { annotationPointer, type JsonPatchOperation } from "./syntax/json-patch.ts";
import { formatList, quoted } from "./syntax/wording.ts";

/** A request with the pins that its workload will have. */
export interface PinnedRequest {
  readonly workload: Workload;
  /** Finds what new Pods of the request read. */
  readonly lookup: Lookup;
  /** Whether the request returns to the pins of an earlier revision. */
  readonly isUndo: boolean;
  /** Records what an undo rejects. */
  readonly operations: readonly JsonPatchOperation[];
  readonly warnings: readonly Warning[];
}

/**
 * Returns what a request does to pins. An undo names other copies than the workload before, and all of them exist: its new Pods read these
 * copies, and the live content of each changed ConfigMap is rejected. Any other request keeps the copies of a ConfigMap whose live content
 * may not be rolled yet: it is on hold, not approved, or rejected. `replacesPods`: the request changes the pod template.
 */
export function pinnedRequest(
  workload: Workload,
  before: Workload | undefined,
  lookup: Lookup,
  policy: Policy,
  replacesPods: boolean,
): PinnedRequest {
  const live: PinnedRequest = { workload, lookup, isUndo: false, operations: [], warnings: [] };
  if (before === undefined || !isPinned(workload, policy)) return live;
  if (workload.pinned !== undefined && workload.pinned !== before.pinned) {
    const all = pinnedLookup(workload, lookup, () => true);
    if (all.unusable.length > 0) return { ...live, warnings: [unusableCopies(all.unusable)] };
    const undo = undoOf(workload, before, lookup);
    if (undo === undefined) return live;
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
  // `kubectl rollout undo` of a Deployment replaces the annotation. People remove it without new Pods.
  const rejections = replacesPods ? [workload.rejected, before.rejected] : [workload.rejected];
  const carried = carriedRejections(
    { ...workload, pinned: before.pinned },
    rejections,
    before,
    lookup,
    isHeld(workload, lookup, policy),
  );
  const restored = { ...workload, pinned: before.pinned, rejected: carried.rejected };
  const kept = pinnedLookup(restored, lookup, keepsPins(restored, lookup, policy), before);
  const unusable = [...new Set([...kept.unusable, ...carried.unusable])].sort();
  const changed = [...kept.kept].filter((name) => differs(restored, lookup, kept.lookup, name));
  return {
    workload: restored,
    lookup: kept.lookup,
    isUndo: false,
    operations: setRejected(workload, carried.rejected),
    warnings: [
      ...(changed.length > 0 ? [keptPins(changed)] : []),
      ...(unusable.length > 0 ? [unusableCopies(unusable)] : []),
    ],
  };
}

/** Returns which ConfigMaps of a pinned workload keep their copies although its Pods are replaced. */
function keepsPins(workload: Workload, lookup: Lookup, policy: Policy): (name: string) => boolean {
  const canBeRead = readAsCopy(workload, lookup, policy);
  if (isHeld(workload, lookup, policy)) return canBeRead;
  return (name) => {
    const directive = lookup("ConfigMap", workload.namespace, name)?.directive;
    return (directive === "hold" || directive === "unclear") && canBeRead(name);
  };
}

/** Reports whether no change of the configuration may be rolled. */
function isHeld(workload: Workload, lookup: Lookup, policy: Policy): boolean {
  const rules = rolloutPolicyOf(workload, policy);
  if (rules.hold.value || rules.invalid.length > 0 || rules.mode.value === "observe") return true;
  if (rules.mode.value !== "approve") return false;
  const plan = planRollout(workload, lookup, policy);
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

function configMaps(names: readonly string[]): string {
  return `ConfigMap${names.length === 1 ? "" : "s"} ${formatList(names, 3, quoted)}`;
}

function keptPins(names: readonly string[]): Warning {
  const message = `New Pods read the pinned content of ${configMaps(names)}: the change is not rolled yet.`;
  return { reason: "PinsKept", message };
}

const undoWithoutPins: Warning = {
  reason: "Unpinned",
  message: "The earlier revision has no pinned configuration. New Pods read the live configuration.",
};
