// What a request does to the pins of a workload: which copies stay, and whether it is an undo. Pure.
import type { Lookup } from "./config/view.ts";
import type { Workload } from "./model/workload.ts";
import { isApproved } from "./pacing/requested-holds.ts";
import { isPinned } from "./pinning/pin-request.ts";
import {
  formatRejected,
  type PinnedLookup,
  parseRejected,
  pinnedLookup,
  rejectionDigest,
  unusableCopies,
} from "./pinning/pinned-lookup.ts";
import { type Pins, parsePins } from "./pinning/pins.ts";
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
 * may not be rolled yet: it is on hold, not approved, or rejected.
 */
export function pinnedRequest(
  workload: Workload,
  before: Workload | undefined,
  lookup: Lookup,
  policy: Policy,
): PinnedRequest {
  const live: PinnedRequest = { workload, lookup, isUndo: false, operations: [], warnings: [] };
  if (before === undefined || !isPinned(workload, policy)) return live;
  if (workload.pinned !== undefined && workload.pinned !== before.pinned) {
    const all = pinnedLookup(workload, lookup, () => true);
    if (all.unusable.length > 0) return { ...live, warnings: [unusableCopies(all.unusable)] };
    return undo(workload, before, lookup, all) ?? live;
  }
  if (before.pinned === undefined) return live;
  // A client that replaces the whole template removes the pins, as it removes the hash.
  const isUndoWithoutPins =
    workload.pinned === undefined &&
    workload.recordedHash !== undefined &&
    workload.recordedHash !== before.recordedHash;
  if (isUndoWithoutPins) return { ...live, warnings: [undoWithoutPins] };
  const restored = { ...workload, pinned: before.pinned };
  const kept = pinnedLookup(restored, lookup, keepsPins(restored, lookup, policy));
  const changed = [...kept.kept].filter((name) => differs(restored, lookup, kept.lookup, name));
  return {
    workload: restored,
    lookup: kept.lookup,
    isUndo: false,
    operations: [],
    warnings: [
      ...(changed.length > 0 ? [keptPins(changed)] : []),
      ...(kept.unusable.length > 0 ? [unusableCopies(kept.unusable)] : []),
    ],
  };
}

/**
 * Returns an undo: the request names other copies than the workload before, and the live content of at least one of these ConfigMaps differs
 * from its copy. Undefined if none differs, as in a reinvocation.
 */
function undo(
  workload: Workload,
  before: Workload,
  live: Lookup,
  { lookup, kept }: PinnedLookup,
): PinnedRequest | undefined {
  const pins = pinsOf(workload);
  const pinsBefore = pinsOf(before);
  const digests = parseRejected(workload.rejected);
  const rejected = new Map<string, string>();
  const returned: string[] = [];
  for (const name of kept) {
    if (!differs(workload, live, lookup, name)) continue;
    const digest = rejectionDigest(workload, live, name);
    const isReturned = pins.get(name) !== pinsBefore.get(name);
    if (isReturned) returned.push(name);
    if (isReturned || digests.get(name) === digest) rejected.set(name, digest);
  }
  if (returned.length === 0) return undefined;
  const text = formatRejected(rejected);
  return {
    workload: { ...workload, rejected: text },
    lookup,
    isUndo: true,
    operations: text === workload.rejected ? [] : [setRejected(text)],
    warnings: [rolledBack(returned.sort())],
  };
}

function pinsOf({ pinned }: Workload): Pins {
  return (pinned !== undefined && parsePins(pinned)) || new Map();
}

/** Returns the write of the annotation of rejected content. The annotation must exist if `rejected` is undefined. */
export function setRejected(rejected: string | undefined): JsonPatchOperation {
  const path = annotationPointer(rejectedConfigMaps);
  return rejected === undefined ? { op: "remove", path } : { op: "add", path, value: rejected };
}

/** Returns which ConfigMaps of a pinned workload keep their copies although its Pods are replaced. */
function keepsPins(workload: Workload, lookup: Lookup, policy: Policy): (name: string) => boolean {
  const rules = rolloutPolicyOf(workload, policy);
  if (rules.hold.value || rules.invalid.length > 0 || rules.mode.value === "observe") return () => true;
  if (rules.mode.value === "approve") {
    const plan = planRollout(workload, lookup, policy);
    if ("hash" in plan && !isApproved(workload, rules, plan.hash)) return () => true;
  }
  return (name) => {
    const directive = lookup("ConfigMap", workload.namespace, name)?.directive;
    return directive === "hold" || directive === "unclear";
  };
}

function differs(workload: Workload, live: Lookup, pinned: Lookup, name: string): boolean {
  return rejectionDigest(workload, live, name) !== rejectionDigest(workload, pinned, name);
}

/**
 * Returns the annotations of an undone workload: `kubectl rollout undo` of a Deployment replaces them by those of the old ReplicaSet. What
 * people wrote for Wave stays as it was before the request.
 */
export function withUserAnnotations(requested: Annotations, before: Annotations): Annotations {
  const isOfUser = (name: string) => name.startsWith(annotationPrefix) && !writtenByWave.includes(name);
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

function rolledBack(names: readonly string[]): Warning {
  const message = `Rolled back: Pods read the earlier content of ${configMaps(names)}. Wave does not roll to the live content until it changes, or until you run wave resume.`;
  return { reason: "RolledBack", message };
}

const undoWithoutPins: Warning = {
  reason: "Unpinned",
  message: "The earlier revision has no pinned configuration. New Pods read the live configuration.",
};
