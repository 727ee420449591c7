import { isDeepStrictEqual } from "node:util";
import type { Workload } from "../../../domain/model/workload.ts";
import type { Reference } from "../../../domain/references/references.ts";

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
