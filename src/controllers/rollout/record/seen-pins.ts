import type { Workload } from "../../../domain/model/workload.ts";

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
