import { isDeepStrictEqual } from "node:util";
import type { Workload } from "../../../domain/model/workload.ts";
import { unusableCopies } from "../../../domain/pinning/pin-texts.ts";
import type { CandidatePlan, RolloutPlan } from "../../../domain/plan/plan.ts";
import type { Reference } from "../../../domain/references/references.ts";
import type { Warning } from "../../../domain/references/warning.ts";

/** The pins that a workload had when it was last seen. */
export interface SeenPins {
  readonly uid: string;
  readonly pinned: string;
  /** What it rejected. `kubectl rollout undo` of a Deployment removes this annotation. */
  readonly rejected: string | undefined;
  /** What the pod template read when it was first seen with these pins: the copies were stored for it. With a rejection: what it read last. */
  readonly references: readonly Reference[];
}

/** Returns the pins to remember of a workload; undefined if it has none. `before`: what was remembered so far, if others wrote the workload. */
export function seenPins({ uid, pinned, rejected, references }: Workload, before?: SeenPins): SeenPins | undefined {
  if (pinned === undefined) return undefined;
  const isSame = before?.uid === uid && before.pinned === pinned && (before.rejected ?? rejected) === undefined;
  return isSame ? before : { uid, pinned, rejected, references };
}

/**
 * Reports whether others changed a pod template so that what the workload rejects may change: it has other pins, or it reads other keys while it
 * rejects content.
 */
export function hasOtherTemplate(seen: SeenPins | undefined, { uid, pinned, rejected, references }: Workload): boolean {
  if (seen?.uid !== uid) return false;
  return seen.pinned !== pinned || (rejected !== undefined && !isDeepStrictEqual(seen.references, references));
}

/** Pins that another client restored, of which some ConfigMaps have no copy, or a copy that lacks a key. */
export interface UnrestoredPins {
  readonly uid: string;
  readonly pinned: string | undefined;
  readonly names: readonly string[];
}

/** Returns the warning about restored pins that the rollout of a plan replaces by live configuration. */
export function unrestoredPins(
  unrestored: UnrestoredPins | undefined,
  { uid, pinned }: Workload,
  { outcome }: RolloutPlan | CandidatePlan,
): readonly Warning[] {
  const isRolled = outcome === "roll" || outcome === "candidate";
  return isRolled && unrestored?.uid === uid && unrestored.pinned === pinned ? [unusableCopies(unrestored.names)] : [];
}
