import type { DirectiveSource } from "../../../domain/compatibility/stakater-directives.ts";
import { hashFormat } from "../../../domain/config/hash.ts";
import type { UntrackedReason } from "../../../domain/config/tracked-references.ts";
import {
  describeMissing,
  describeObject,
  type Lookup,
  missingFrom,
} from "../../../domain/config/view-of-references.ts";
import { hasSchedulingHold } from "../../../domain/model/scheduling-hold.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { Decision, Hold, RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import { holdRows } from "../../../domain/pacing/holds.ts";
import type { ConfigName, Reference } from "../../../domain/references/references.ts";
import { sentences } from "../../output/sentences.ts";
import type { ReadConfig } from "../read/configs.ts";
import type { Published } from "../snapshot/leader-view.ts";
import type { WorkloadSnapshot } from "../snapshot/workload-snapshot.ts";

/** Why a due action must not happen yet. */
export interface ExplainedHold {
  readonly reason: Hold["reason"];
  readonly message: string;
  /** When the hold ends by itself, RFC 3339; null if that is unknown. */
  readonly until: string | null;
  /** The changed object whose batch holds the action; absent for other holds. */
  readonly object?: ConfigName;
}

/** What Wave would do with a workload now, as far as the permissions of the user show it. */
export interface ExplainedOutcome {
  /** The outcome of `decide`; "unknown" if it depends on an object or a key that could not be read. */
  readonly outcome: RolloutPlan["outcome"] | "unknown";
  /** The due action that is held; null if nothing is held. */
  readonly due: "firstHash" | "recorded" | "roll" | "cleanUp" | null;
  /** The hold; null if nothing is held. */
  readonly hold: ExplainedHold | null;
  /** One line for a person. */
  readonly reason: string;
  /** Up to when the verdict of the leader includes changes, RFC 3339; null if the outcome does not come from it. */
  readonly judgedAt: string | null;
  /** Null if the configuration is incomplete, is not tracked by Wave, or could not be read. */
  readonly currentHash: string | null;
}

const nothing = { due: null, hold: null, judgedAt: null, currentHash: null } as const;

/**
 * Returns the outcome of a plan that was made from the objects that could be read. Unread objects make the outcome "unknown", except if
 * they cannot change it: the workload has not opted in, exceeds a limit, or already waits for a missing object.
 */
export function explainedOutcome(
  plan: RolloutPlan,
  unread: readonly ConfigName[],
  { found: { workload }, unnamed, published, policy: { keys } }: WorkloadSnapshot,
): ExplainedOutcome {
  const { outcome, reason } = plan;
  if (outcome === "ignore" || outcome === "cleanUp" || outcome === "waiting" || outcome === "overLimit")
    return { ...nothing, outcome, reason };
  if (unread.length > 0) {
    const objects = describeMissing(unread, workload.namespace);
    return publishedOutcome(`Cannot read ${objects}`, published, workload);
  }
  if (unnamed !== undefined) return publishedOutcome(unnamed.error, published, workload);
  const decided = outcome === "held" ? plan.due : plan;
  const known = keys.state === "read";
  if (decided.outcome === "recorded" && decided.cause === "key" && !known)
    return publishedOutcome(withoutKey(workload, keys.why), published, workload);
  // The hash that Wave would write depends on its keys.
  const currentHash = keys.state === "unread" || !("view" in decided) ? null : decided.view.hash;
  const explained = {
    ...nothing,
    outcome,
    reason: outcome === "held" && decided.outcome === "roll" ? reason : reasonFor(decided, reason, workload),
    currentHash,
  };
  if (outcome !== "held") return explained;
  const { reason: by, message, until, object } = plan.hold;
  const hold = { reason: by, message, until: timeOf(until), ...(object && { object }) };
  return { ...explained, due: plan.due.outcome, hold };
}

/** Returns the outcome by the verdict of the leader, or "unknown". `why`: why the command cannot decide itself. */
function publishedOutcome(why: string, published: Published | undefined, { namespace }: Workload): ExplainedOutcome {
  if (published === undefined || "why" in published)
    return { ...nothing, outcome: "unknown", reason: sentences(why, published?.why ?? "") };
  const { verdict, upTo } = published;
  const shared = { ...nothing, judgedAt: timeOf(upTo), reason: sentences(why, "This is the verdict of Wave") };
  switch (verdict?.state) {
    case "held": {
      const { reason, until, object } = verdict;
      if (!Object.hasOwn(holdRows, reason)) return { ...shared, outcome: "held" };
      const by = reason as Hold["reason"];
      const of = object && `The change is in ${describeObject(object, namespace)}`;
      const ends = `The hold ends with ${holdRows[by].ends.replaceAll("`", "")}`;
      const hold = { reason: by, message: sentences(`Rollout held (${by})`, of ?? "", ends), until: timeOf(until) };
      return { ...shared, outcome: "held", due: "roll", hold: { ...hold, ...(object && { object }) } };
    }
    case "waiting":
    case "overLimit":
      return { ...shared, outcome: verdict.state };
    default:
      return { ...shared, outcome: "current" };
  }
}

/** The reason of a plan assumes a Wave that observed the change. A command did not observe it, so its reason is less specific. */
function reasonFor(decided: Decision, reason: string, workload: Workload): string {
  if (decided.outcome === "recorded" && decided.cause === "key")
    return sentences(reason, "If the running Wave still remembers the previous key, Wave compares the hashes instead");
  if (decided.outcome !== "roll" || decided.again) return reason;
  return sentences(
    "The configuration differs from the recorded hash",
    hasSchedulingHold(workload) ? "Wave restores the scheduler" : "",
  );
}

function withoutKey({ recordedHash = "" }: Workload, why: string): string {
  const form = hashFormat(recordedHash);
  return sentences(
    `The recorded hash uses key ${form === "foreign" ? "" : form.keyId}, which is not available: ${why}`,
  );
}

/** Returns a time in milliseconds since the epoch as RFC 3339, without zero milliseconds; null for undefined. */
export function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString().replace(".000Z", "Z");
}

/** One way in which the Pods of a workload read an object, with the current state of the object. */
export interface ExplainedReference extends Reference {
  /**
   * "refused": in another namespace that does not share it. "ignored": the object has the annotation `ignore`. "excluded": the
   * workload or its Namespace excludes it. "unmarked": the workload only follows marked objects, and this object has no mark.
   * "unselected": flags of Wave leave it out. "held": the object exists, and a person holds its changes. Otherwise the state of {@link ReadConfig}.
   */
  readonly state: ReadConfig["state"] | "held" | "refused" | UntrackedReason;
  /** The annotations that make Wave follow the object, by compatibility; empty if the workload has not opted in. */
  readonly trackedBy: readonly DirectiveSource[];
  /** The named keys that the object does not have. */
  readonly absentKeys: readonly string[];
}

/** Returns the state of an object that was read; "held" if a person holds its changes. */
export function heldOrRead(found: ReadConfig | undefined): ReadConfig["state"] | "held" {
  if (found?.state === "present" && found.config.directive === "hold") return "held";
  return found?.state ?? "absent";
}

/** Returns a reference with the state of its object and the keys that the object lacks. */
export function explainedReference(
  reference: Reference,
  state: ExplainedReference["state"],
  lookup: Lookup,
): Omit<ExplainedReference, "trackedBy"> {
  const { kind, namespace, name, path, reads, keys, optional } = reference;
  const lacking =
    state === "present" || state === "held" ? missingFrom([{ ...reference, optional: false }], lookup) : [];
  const absentKeys = lacking.flatMap(({ key }) => key ?? []);
  return { kind, namespace, name, path, reads, keys, optional, state, absentKeys };
}
