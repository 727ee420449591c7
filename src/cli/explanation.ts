import { describeExcess } from "../rollout/budgets.ts";
import { countedReferences } from "../rollout/counted-references.ts";
import { formOf } from "../rollout/hash.ts";
import { describeMissing, describeObject } from "../rollout/messages.ts";
import type { Hold } from "../rollout/pacing/hold.ts";
import type { Moment } from "../rollout/pacing/moment.ts";
import type { Decision, Missing, RolloutPlan, Warning } from "../rollout/plan.ts";
import { readRecorded } from "../rollout/recorded.ts";
import { type ConfigName, configKey, type Reference } from "../rollout/references.ts";
import { hasGate, isGated } from "../rollout/scheduling-gate.ts";
import { type Lookup, missingFrom } from "../rollout/view.ts";
import type { OptIn, Workload, WorkloadName } from "../rollout/workload.ts";
import { collectReferences, referencesOf } from "../rollout/workload-references.ts";
import { type DecidedPolicy, decidedPolicy } from "./decided-policy.ts";
import { type HashForm, hashFormOf, type ReadHashKeys } from "./explain-keys.ts";
import { changeTimes, isUnread, lookupIn, planLive, readableReferences } from "./live-plan.ts";
import { countPods, type PodCount, type ReadPods } from "./pods.ts";
import type { ReadConfig, ReadConfigs } from "./read-configs.ts";
import type { FoundWorkload } from "./read-workloads.ts";
import { type KnownPolicy, policyOf } from "./told-flags.ts";
import { workloadNotes } from "./workload-notes.ts";
import { standingOf, type WorkloadState } from "./workload-state.ts";

/** One way in which the Pods of a workload read an object, and what is there. */
export interface ExplainedReference extends Reference {
  /**
   * "refused": of another namespace, and not granted; "ignored", as it says itself, or "excluded": it does not count. Else
   * as {@link ReadConfig}.
   */
  readonly state: ReadConfig["state"] | "refused" | "ignored" | "excluded";
  /** Which of its named keys the object lacks. */
  readonly absentKeys: readonly string[];
}

/** An object without which nobody can say what Wave does. */
export interface UnreadObject extends ConfigName {
  readonly error: string;
}

/** What `wave explain -o json` prints; docs/explain.md promises its fields. Never a value, never a digest of one. */
export interface Explanation {
  readonly version: 1;
  readonly workload: WorkloadName;
  readonly optIn: OptIn["state"];
  /** Where it stands, by what Wave would do and what became of its Pods. */
  readonly state: WorkloadState;
  /** Why it stands there, as one word; null where there is nothing to say. */
  readonly because: string | null;
  /** The same in one line for a person; null where there is nothing to say. */
  readonly message: string | null;
  /** Since when, as far as the API tells it, RFC 3339. */
  readonly since: string | null;
  /** Of `planRollout`; "unknown" where it hangs on an object or a key that could not be read. */
  readonly outcome: RolloutPlan["outcome"] | "unknown";
  /** What is due and held; null where nothing is held. */
  readonly due: "baseline" | "adopt" | "roll" | "cleanUp" | null;
  /** What holds it; null where nothing does. */
  readonly hold: { readonly reason: Hold["reason"]; readonly message: string; readonly until: string | null } | null;
  /** How many of its Pods run with the current configuration; null where that is not known. */
  readonly pods: PodCount | null;
  /** What decides when it is rolled, but for the flags that are as they are by themselves. */
  readonly policy: readonly DecidedPolicy[];
  /** One line for a person. */
  readonly reason: string;
  readonly recordedHash: string | null;
  /** Under which key the recorded hash is; null where there is none, or one of another algorithm. */
  readonly recordedUnder: HashForm;
  /** Null where there is none: the configuration is incomplete, not Wave's to look at, or could not be read. */
  readonly currentHash: string | null;
  /** "closed" where the scheduling gate keeps its new Pods pending. */
  readonly gate: "closed" | "open";
  /** One for each place where it is written, also where the workload has not opted in; none of too many. */
  readonly references: readonly ExplainedReference[];
  /** Why none of them is listed, where they are more than a budget; else null. */
  readonly tooLarge: string | null;
  /** What Pods cannot start without and does not exist. */
  readonly missing: readonly Missing[];
  readonly unread: readonly UnreadObject[];
  readonly warnings: readonly Warning[];
  /** One line each for a person: what else decides when its Pods are replaced. */
  readonly notes: readonly string[];
}

/** The workload as if it had opted in: what it reads is of interest either way, unless that exceeds a budget. */
export function withAllReferences({ object, workload }: FoundWorkload): Workload {
  if (workload.excess !== undefined) return workload;
  const { merged = [], excess } = referencesOf(object);
  return { ...workload, references: merged, excess };
}

/** What an explanation is made from. */
export interface Asked {
  readonly found: FoundWorkload;
  readonly read: ReadConfigs;
  readonly policy: KnownPolicy;
  readonly pods: ReadPods;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Who else goes first, where others were read. */
  readonly wave: Moment["wave"];
  /** What else could not be read and may matter, a line each. */
  readonly gaps: readonly string[];
}

/** What Wave would do with a workload now, by `planRollout`, and everything that this hangs on. */
export function explainWorkload({ found, read, policy, pods, now, wave, gaps }: Asked): Explanation {
  const { object, workload } = found;
  const { keys, pacing: flags } = policy;
  const lookup = lookupIn(read);
  const reader = withAllReferences(found);
  const unread = unreadObjects(reader, read);
  const readable = { ...reader, references: readableReferences(reader.references, read) };
  const counted = countedReferences(readable, lookup, policyOf(policy));
  const plan = planLive(found, read, policy, now, wave);
  const { kind, namespace, name, optIn, recordedHash } = workload;
  const places = reader.excess === undefined ? collectReferences(object) : [];
  const told = outcomeOf(plan, unread, workload, keys);
  const podCount = pods.state === "read" ? podsOf(workload, plan, told.outcome, pods, policy) : undefined;
  const changes = changeTimes(readable.references, read);
  const { state, because, message, since } = standingOf({
    object,
    workload,
    ...told,
    hold: plan.outcome === "held" ? plan.hold : undefined,
    unread: unread[0] && read.get(configKey(unread[0]))?.state,
    pods,
    podCount,
    changedAt: changes.length === 0 ? undefined : Math.max(...changes),
    flags,
    now,
  });
  return {
    version: 1,
    workload: { kind, namespace, name },
    optIn: optIn.state,
    state,
    because: because || null,
    message: message || null,
    since: timeOf(since),
    ...told,
    pods: podCount ?? null,
    policy: decidedPolicy(workload, policy),
    recordedHash: recordedHash ?? null,
    recordedUnder: hashFormOf(recordedHash, keys),
    gate: isGated(workload) ? "closed" : "open",
    references: places.map((reference) => {
      const key = configKey(reference);
      const uncounted = counted.leftOut.get(key) ?? (counted.refused.has(key) ? "refused" : undefined);
      return explained(reference, uncounted ?? read.get(key)?.state ?? "absent", lookup);
    }),
    tooLarge:
      reader.excess === undefined ? null : describeExcess(reader.excess, (one) => describeObject(one, namespace)),
    missing: missingFrom(counted.references, counted.lookup),
    unread,
    warnings: plan.warnings,
    notes: [...workloadNotes(object, workload), ...gaps],
  };
}

/** Pods run with the current configuration where the hash that they carry stands for it; where none is read, all do. */
function podsOf(
  workload: Workload,
  plan: RolloutPlan,
  outcome: Explanation["outcome"],
  pods: Extract<ReadPods, { readonly state: "read" }>,
  policy: KnownPolicy,
): PodCount | undefined {
  const decided = plan.outcome === "held" ? plan.due : plan;
  if (outcome === "unknown" || !("view" in decided)) return undefined;
  const { view } = decided;
  const readsNothing = plan.outcome === "unchanged" && workload.recordedHash === undefined;
  return countPods(pods.of(workload), (hash) => {
    if (readsNothing) return true;
    return (
      readRecorded({ recordedHash: hash, baseline: workload.baseline }, view, policyOf(policy).hashKeys).tells ===
      "same"
    );
  });
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString().replace(".000Z", "Z");
}

function unreadObjects({ references }: Workload, read: ReadConfigs): readonly UnreadObject[] {
  const objects = new Map(references.map((reference) => [configKey(reference), reference]));
  return [...objects].flatMap(([key, { kind, namespace, name }]) => {
    const found = read.get(key);
    return isUnread(found) ? [{ kind, namespace, name, error: found.error }] : [];
  });
}

type Told = Pick<Explanation, "outcome" | "due" | "hold" | "reason" | "currentHash">;

/**
 * The plan was made from what could be read. The rest cannot change it where the workload is not Wave's or something is
 * missing already; else it can.
 */
function outcomeOf(plan: RolloutPlan, unread: readonly UnreadObject[], workload: Workload, keys: ReadHashKeys): Told {
  const { outcome, reason } = plan;
  const nothing = { due: null, hold: null, currentHash: null };
  if (outcome === "ignore" || outcome === "cleanUp" || outcome === "waiting" || outcome === "overBudget")
    return { ...nothing, outcome, reason };
  if (unread.length > 0) {
    const objects = describeMissing(unread, workload.namespace);
    return { ...nothing, outcome: "unknown", reason: `could not read ${objects}` };
  }
  const decided = outcome === "held" ? plan.due : plan;
  const known = keys.state === "read";
  if (decided.outcome === "adopt" && decided.because === "key" && !known)
    return { ...nothing, outcome: "unknown", reason: withoutKey(workload, keys.why) };
  // Without the keys that the Wave that runs has, nobody knows what it would write.
  const currentHash = keys.state === "unread" || !("view" in decided) ? null : decided.view.hash;
  const why = outcome === "held" ? reason.slice(0, reason.length - plan.hold.message.length - 2) : reason;
  const told = { ...nothing, outcome, reason: reasonFor(decided, why, workload), currentHash };
  if (outcome !== "held") return told;
  const { reason: by, message, until } = plan.hold;
  return { ...told, due: plan.due.outcome, hold: { reason: by, message, until: timeOf(until) } };
}

/** The plan's own words are of a Wave that was there to see it; nobody but Wave knows that. */
function reasonFor(decided: Decision, reason: string, workload: Workload): string {
  if (decided.outcome === "adopt" && decided.because === "key")
    return `${reason}, unless one that runs still remembers it`;
  if (decided.outcome !== "roll") return reason;
  return `its configuration is not what its hash was made from${hasGate(workload) ? "; its scheduler is restored" : ""}`;
}

function withoutKey({ recordedHash = "" }: Workload, why: string): string {
  const form = formOf(recordedHash);
  return `its hash is under the key ${form === "foreign" ? "" : form.keyId}, which is not known here: ${why}`;
}

function explained(reference: Reference, state: ExplainedReference["state"], lookup: Lookup): ExplainedReference {
  const { kind, namespace, name, path, reads, keys, optional } = reference;
  const lacking = state === "present" ? missingFrom([{ ...reference, optional: false }], lookup) : [];
  const absentKeys = lacking.flatMap(({ key }) => key ?? []);
  return { kind, namespace, name, path, reads, keys, optional, state, absentKeys };
}
