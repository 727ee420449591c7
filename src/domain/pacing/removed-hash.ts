import type { Hold } from "../outcomes/outcomes.ts";
import type { DueWrite } from "./due.ts";
import { holdTexts } from "./hold-texts.ts";
import { waitAfter } from "./interval.ts";

/** How many times Wave writes one hash while another client removes it. */
const maxWrites = 10;

/** Holds a write of a hash that another client removed. Each write waits longer, and after the last one Wave stops. */
export function reverted({ workload, decision, flags, moment: { lastWrite, now } }: DueWrite): Hold | undefined {
  if (!("hash" in decision) || lastWrite === undefined || lastWrite.hash !== decision.hash) return undefined;
  if (workload.recordedHash === decision.hash) return undefined;
  // A client that only removes fields owns none, so managedFields name the last client that edited and still owns a field.
  const { editedBy } = workload;
  const writes = lastWrite.timesReverted + 1;
  if (writes >= maxWrites) {
    const message = holdTexts.revertedTooOften(editedBy, maxWrites);
    return { reason: "reverted", message, until: undefined, warning: true };
  }
  // Without a settle time, the first removal is treated as a `kubectl rollout undo` of a person.
  const unsettledMs = writes === 1 ? 0 : waitAfter(writes - 1);
  const waitMs = flags.settleMs === 0 ? unsettledMs : waitAfter(lastWrite.consecutiveRollouts);
  const until = lastWrite.at + waitMs;
  if (now >= until) return undefined;
  return { reason: "reverted", message: holdTexts.reverted(editedBy, waitMs), until, warning: true };
}
