import type { Workload } from "../../../domain/model/workload.ts";

/** The pins that a workload had when it was last seen. */
export interface SeenPins {
  readonly uid: string;
  readonly pinned: string;
}

/** Returns the pins to remember of a workload; undefined if it has none. */
export function seenPins({ uid, pinned }: Workload): SeenPins | undefined {
  return pinned === undefined ? undefined : { uid, pinned };
}
