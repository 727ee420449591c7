import { hashFormat } from "../../domain/config/hash.ts";
import { describeMissing } from "../../domain/config/messages.ts";
import type { Hold } from "../../domain/decision/hold.ts";
import { hasSchedulingHold } from "../../domain/model/scheduling-hold.ts";
import type { Workload } from "../../domain/model/workload.ts";
import type { Decision, RolloutPlan } from "../../domain/plan/plan.ts";
import type { ConfigName } from "../../domain/references/references.ts";
import type { ReadHashKeys } from "./hash-keys.ts";

/** What Wave would do with a workload now, as far as that can be told by whoever asks. */
export interface ExplainedOutcome {
  /** Of `planRollout`; "unknown" where it hangs on an object or a key that could not be read. */
  readonly outcome: RolloutPlan["outcome"] | "unknown";
  /** What is due and held; null where nothing is held. */
  readonly due: "firstHash" | "recorded" | "roll" | "cleanUp" | null;
  /** What holds it; null where nothing does. */
  readonly hold: { readonly reason: Hold["reason"]; readonly message: string; readonly until: string | null } | null;
  /** One line for a person. */
  readonly reason: string;
  /** Null where there is none: the configuration is incomplete, not Wave's to look at, or could not be read. */
  readonly currentHash: string | null;
}

/**
 * The plan was made from what could be read. The rest cannot change it where the workload is not Wave's or something is
 * missing already; else it can.
 */
export function explainedOutcome(
  plan: RolloutPlan,
  { unread, unnamed }: { readonly unread: readonly ConfigName[]; readonly unnamed: string | undefined },
  workload: Workload,
  keys: ReadHashKeys,
): ExplainedOutcome {
  const { outcome, reason } = plan;
  const nothing = { due: null, hold: null, currentHash: null };
  if (outcome === "ignore" || outcome === "cleanUp" || outcome === "waiting" || outcome === "overLimit")
    return { ...nothing, outcome, reason };
  if (unread.length > 0) {
    const objects = describeMissing(unread, workload.namespace);
    return { ...nothing, outcome: "unknown", reason: `could not read ${objects}` };
  }
  if (unnamed !== undefined) return { ...nothing, outcome: "unknown", reason: unnamed };
  const decided = outcome === "held" ? plan.due : plan;
  const known = keys.state === "read";
  if (decided.outcome === "recorded" && decided.because === "key" && !known)
    return { ...nothing, outcome: "unknown", reason: withoutKey(workload, keys.why) };
  // Without the keys that the Wave that runs has, nobody knows what it would write.
  const currentHash = keys.state === "unread" || !("view" in decided) ? null : decided.view.hash;
  const why = outcome === "held" ? reason.slice(0, reason.length - plan.hold.message.length - 2) : reason;
  const told = {
    ...nothing,
    outcome,
    reason: reasonFor(decided, why, workload),
    currentHash,
  };
  if (outcome !== "held") return told;
  const { reason: by, message, until } = plan.hold;
  return { ...told, due: plan.due.outcome, hold: { reason: by, message, until: timeOf(until) } };
}

/** The plan's own words are of a Wave that was there to see it; nobody but Wave knows that. */
function reasonFor(decided: Decision, reason: string, workload: Workload): string {
  if (decided.outcome === "recorded" && decided.because === "key")
    return `${reason}, unless one that runs still remembers it`;
  if (decided.outcome !== "roll") return reason;
  return `its configuration is not what its hash was made from${hasSchedulingHold(workload) ? "; its scheduler is restored" : ""}`;
}

function withoutKey({ recordedHash = "" }: Workload, why: string): string {
  const form = hashFormat(recordedHash);
  return `its hash is under the key ${form === "foreign" ? "" : form.keyId}, which is not known here: ${why}`;
}

/** A time, milliseconds since the epoch, as an explanation tells it: RFC 3339. */
export function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString().replace(".000Z", "Z");
}
