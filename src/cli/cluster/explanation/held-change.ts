import type { Workload } from "../../../domain/model/workload.ts";
import { canBePinned } from "../../../domain/pinning/pin-request.ts";
import type { RolloutPlan } from "../../../domain/plan/plan.ts";
import type { RunningPod } from "../read/pods.ts";
import { pinningTexts } from "../states/pod-pinning.ts";

/** How many Pods of the old revision may read a change that is held, because Kubernetes does not wait for Wave. */
export interface HeldChange {
  /** The Pods that mount a changed object. The kubelet updates mounted files by itself. */
  readonly files: number;
  /** The Pods that read a changed object as environment variables. A container reads them again when it restarts. */
  readonly env: number;
}

/**
 * Returns how many Pods that are not current may read a held change; null if no change is held. `changed` has the keys of the
 * objects that changed since the last rollout. A change that only settles soon reaches all Pods.
 */
export function heldChange(
  plan: RolloutPlan,
  pods: readonly RunningPod[],
  isCurrent: (pod: RunningPod) => boolean,
  changed: ReadonlySet<string>,
): HeldChange | null {
  if (plan.outcome !== "held" || plan.due.outcome !== "roll" || plan.hold.reason === "settling") return null;
  const old = pods.filter((pod) => !isCurrent(pod));
  const reading = (by: "files" | "env") => old.filter((pod) => !pod[by].isDisjointFrom(changed)).length;
  return { files: reading("files"), env: reading("env") };
}

/** Returns one line for each way in which old Pods may read a held change. */
export function heldChangeLines(held: HeldChange | null): readonly string[] {
  if (held === null) return [];
  return [
    ...(held.files === 0 ? [] : [pinningTexts.heldFiles(held.files)]),
    ...(held.env === 0 ? [] : [pinningTexts.heldEnv(held.env)]),
  ];
}

/** Returns the lines about a held change, and how to prevent that old Pods read the next one. */
export function heldChangeNotes(held: HeldChange | null, workload: Workload, isPinned: boolean): readonly string[] {
  const lines = heldChangeLines(held);
  return lines.length > 0 && !isPinned && canBePinned(workload) ? [...lines, pinningTexts.pinToPrevent] : lines;
}
