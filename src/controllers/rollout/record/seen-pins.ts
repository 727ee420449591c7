import type { Workload } from "../../../domain/model/workload.ts";
import { unusableCopies } from "../../../domain/pinning/pin-texts.ts";
import type { CandidatePlan, RolloutPlan } from "../../../domain/plan/plan.ts";
import type { Warning } from "../../../domain/references/warning.ts";

/** The pins that a workload had when it was last seen. */
export interface SeenPins {
  readonly uid: string;
  readonly pinned: string;
  /** What it rejected. `kubectl rollout undo` of a Deployment removes this annotation. */
  readonly rejected: string | undefined;
}

/** Returns the pins to remember of a workload; undefined if it has none. */
export function seenPins({ uid, pinned, rejected }: Workload): SeenPins | undefined {
  return pinned === undefined ? undefined : { uid, pinned, rejected };
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
