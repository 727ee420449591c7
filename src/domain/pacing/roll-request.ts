import { hasOutgrownPins } from "../pinning/pinned-lookup.ts";
import { quoted } from "../syntax/wording.ts";
import type { DueWrite } from "./due.ts";
import { lastRolloutAt } from "./rollout-time.ts";

/** How long a request applies, in milliseconds. A request that another hold outlives must not surprise anyone a day later. */
const validMs = 600_000;

/** How far the clock of the API server may be ahead of this one. A later request would apply to changes that its author has not seen. */
const clocksDifferMs = 60_000;

/**
 * Reports whether a person requested this rollout, so that it does not wait. The next rollout uses the request up. Times of
 * the API are whole seconds: a rollout in the second of the request may be its result.
 */
export function isRollRequested({
  workload,
  policy: { rollRequest },
  moment,
}: Pick<DueWrite, "workload" | "policy" | "moment">): boolean {
  if (rollRequest === undefined) return false;
  const { at } = rollRequest;
  if (at > moment.now + clocksDifferMs || moment.now >= at + validMs) return false;
  return at > (lastRolloutAt(workload, moment) ?? 0);
}

/** Reports whether a rollout does not wait: a person requested it, or the Pods are being replaced and lack keys that they read. */
export function skipsWaits(due: DueWrite): boolean {
  return isRollRequested(due) || hasOutgrownPins(due.workload, due.lookup);
}

/** Returns the reason of a rollout, with the name of the person if one requested it. */
export function requestedReason(reason: string, due: DueWrite): string {
  if (!isRollRequested(due)) return reason;
  const { rollRequest } = due.policy;
  const by = rollRequest?.by ?? "";
  return `${reason}; requested ${by === "" ? "with wave roll" : `by ${quoted(by)}`}`;
}
