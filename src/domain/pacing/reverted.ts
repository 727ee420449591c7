import type { Hold } from "../decision/hold.ts";
import { formatDuration } from "../syntax/duration.ts";
import { counted, quoted } from "../syntax/wording.ts";
import type { Due } from "./due.ts";
import { waitAfter } from "./interval.ts";

/** How often the same hash is written while somebody takes it away again. */
const mostTries = 10;

/** Somebody takes away the hash that Wave writes. It is written again, each time later, and in the end no more. */
export function reverted({ workload, decision, flags, moment: { written, now } }: Due): Hold | undefined {
  if (!("hash" in decision) || written === undefined || written.hash !== decision.hash) return undefined;
  // Who only removes owns no field by it, so managedFields tell who edited last and still owns something.
  const perhaps = workload.editedBy === undefined ? "" : `, perhaps field manager ${quoted(workload.editedBy)},`;
  const who = `somebody${perhaps}`;
  const what = `${who} took away the hash that Wave wrote`;
  const tries = written.reverted + 1;
  if (tries >= mostTries) {
    return {
      reason: "reverted",
      message: `${what}, ${counted(mostTries)} times: it is written again when its configuration changes or the workload is made anew; keep that from changing Wave's annotations`,
      until: undefined,
      warning: true,
    };
  }
  // With no settle time the first is taken for a person's `rollout undo`.
  const waitMs = flags.settleMs === 0 ? (tries === 1 ? 0 : waitAfter(tries - 1)) : waitAfter(written.streak);
  const until = written.at + waitMs;
  if (now >= until) return undefined;
  return {
    reason: "reverted",
    message: `${what}: it is written again ${formatDuration(waitMs)} after that, later each time; keep that from changing Wave's annotations`,
    until,
    warning: true,
  };
}
