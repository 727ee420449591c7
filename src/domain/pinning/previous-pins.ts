import type { Workload } from "../model/workload.ts";
import type { Policy } from "../policy/policy.ts";
import { rolloutPolicyOf } from "../policy/rollout-policy.ts";
import { isPinned } from "./pin-request.ts";
import { parsePins } from "./pins.ts";

/** Limit of the previous pins, in characters: with the current pins, they must be within the limit for all annotations of Wave. */
export const maxPreviousLength = 8_192;

/** Reports whether a workload is to return to its previous pins if a rollout fails. */
export function returnsOnFailure(workload: Workload, policy: Policy): boolean {
  return isPinned(workload, policy) && rolloutPolicyOf(workload, policy).onFailure.value === "return";
}

/** Returns the pins to return to if the last rollout fails: its own pins if it has passed; undefined if they are unknown, or malformed, or those of another rollout. */
export function pinsBeforeRollout({ previousPins = "", recordedHash }: Workload): string | undefined {
  const [hash, pins = "", ...rest] = previousPins.split(" ");
  return hash === recordedHash && rest.length === 0 && parsePins(pins) !== undefined ? pins : undefined;
}

/**
 * Returns the annotation of previous pins for a rollout by Wave; undefined if there is nothing to return to. Only pins whose rollout was
 * complete are good: if the last rollout was not, or its status does not show it yet, the rollout before it counts.
 */
export function previousPinsAfter(
  workload: Workload,
  { hash, pinned }: { readonly hash: string; readonly pinned: string | undefined },
  policy: Policy,
): string | undefined {
  if (!returnsOnFailure(workload, policy)) return undefined;
  const good = workload.progress.state === "complete" ? workload.pinned : pinsBeforeRollout(workload);
  return good === pinned ? undefined : previousPinsOf(hash, good);
}

/** Returns the annotation by which a workload with this hash returns to these pins; undefined if they are malformed or too long. */
export function previousPinsOf(hash: string | undefined, pinned = ""): string | undefined {
  return pinned.length > maxPreviousLength || parsePins(pinned) === undefined ? undefined : `${hash} ${pinned}`;
}
