import { describeExcess } from "../rollout/budgets.ts";
import { grantedReferences } from "../rollout/cross-namespace.ts";
import { formOf } from "../rollout/hash.ts";
import { describeMissing, describeObject } from "../rollout/messages.ts";
import {
  type DuePlan,
  type Lookup,
  type Missing,
  planRollout,
  type RolloutPlan,
  type Warning,
} from "../rollout/plan.ts";
import type { Policy } from "../rollout/policy/policy.ts";
import { type ConfigName, configKey, type Reference } from "../rollout/references.ts";
import { hasGate, isGated } from "../rollout/scheduling-gate.ts";
import { missingFrom } from "../rollout/view.ts";
import type { OptIn, Workload, WorkloadName, WorkloadObject } from "../rollout/workload.ts";
import { collectReferences, referencesOf } from "../rollout/workload-references.ts";
import { type HashForm, hashFormOf, type ReadHashKeys } from "./explain-keys.ts";
import type { ReadConfig, ReadConfigs } from "./explain-read.ts";
import { workloadNotes } from "./workload-notes.ts";

/** One way in which the Pods of a workload read an object, and what is there. */
export interface ExplainedReference extends Reference {
  /** "refused": of another namespace, and not granted, so that it does not count. Else as {@link ReadConfig}. */
  readonly state: ReadConfig["state"] | "refused";
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
  /** Of `planRollout`; "unknown" where it hangs on an object or a key that could not be read. */
  readonly outcome: RolloutPlan["outcome"] | "unknown";
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
export function withAllReferences(object: WorkloadObject, workload: Workload): Workload {
  if (workload.excess !== undefined) return workload;
  const { merged = [], excess } = referencesOf(object);
  return { ...workload, references: merged, excess };
}

/** What Wave would do with a workload now, by `planRollout`, and everything that this hangs on. */
export function explainWorkload(
  object: WorkloadObject,
  workload: Workload,
  read: ReadConfigs,
  { keys, ...flags }: Omit<Policy, "hashKeys"> & { readonly keys: ReadHashKeys },
): Explanation {
  const policy: Policy = { ...flags, hashKeys: keys.state === "read" ? keys.keys : undefined };
  const isRead = (reference: Reference) => !isUnread(read.get(configKey(reference)));
  const lookup: Lookup = (kind, namespace, name) => {
    const found = read.get(configKey({ kind, namespace, name }));
    return found?.state === "present" ? found.config : undefined;
  };
  const reader = withAllReferences(object, workload);
  const unread = unreadObjects(reader, read);
  const readable = { ...reader, references: reader.references.filter(isRead) };
  const granted = grantedReferences(readable, lookup, policy);
  const plan = planRollout({ ...workload, references: workload.references.filter(isRead) }, lookup, policy);
  const { kind, namespace, name, optIn, recordedHash } = workload;
  const places = reader.excess === undefined ? collectReferences(object) : [];
  return {
    version: 1,
    workload: { kind, namespace, name },
    optIn: optIn.state,
    ...outcomeOf(plan, unread, workload, keys),
    recordedHash: recordedHash ?? null,
    recordedUnder: hashFormOf(recordedHash, keys),
    gate: isGated(workload) ? "closed" : "open",
    references: places.map((reference) => {
      const key = configKey(reference);
      const refused = granted.refused.has(key);
      return explained(reference, refused ? "refused" : (read.get(key)?.state ?? "absent"), lookup);
    }),
    tooLarge:
      reader.excess === undefined ? null : describeExcess(reader.excess, (one) => describeObject(one, namespace)),
    missing: missingFrom(granted.references, granted.lookup),
    unread,
    warnings: plan.warnings,
    notes: workloadNotes(object, workload),
  };
}

function isUnread(found: ReadConfig | undefined): found is ReadConfig & { readonly error: string } {
  return found?.state === "forbidden" || found?.state === "unreadable";
}

function unreadObjects({ references }: Workload, read: ReadConfigs): readonly UnreadObject[] {
  const objects = new Map(references.map((reference) => [configKey(reference), reference]));
  return [...objects].flatMap(([key, { kind, namespace, name }]) => {
    const found = read.get(key);
    return isUnread(found) ? [{ kind, namespace, name, error: found.error }] : [];
  });
}

/**
 * The plan was made from what could be read. The rest cannot change it where the workload is not Wave's or something is
 * missing already; else it can.
 */
function outcomeOf(
  plan: DuePlan,
  unread: readonly UnreadObject[],
  workload: Workload,
  keys: ReadHashKeys,
): Pick<Explanation, "outcome" | "reason" | "currentHash"> {
  const { outcome, reason } = plan;
  if (outcome === "ignore" || outcome === "cleanUp" || outcome === "waiting" || outcome === "overBudget")
    return { outcome, reason, currentHash: null };
  if (unread.length > 0) {
    const objects = describeMissing(unread, workload.namespace);
    return { outcome: "unknown", reason: `could not read ${objects}`, currentHash: null };
  }
  // Without the keys that the Wave that runs has, nobody knows what it would write.
  const currentHash = keys.state === "unread" ? null : plan.view.hash;
  if (outcome === "adopt") {
    if (keys.state !== "read") return { outcome: "unknown", reason: withoutKey(workload, keys.why), currentHash: null };
    return { outcome, reason: `${reason}, unless one that runs still remembers it`, currentHash };
  }
  if (outcome !== "roll") return { outcome, reason, currentHash };
  // The plan's own words are of a Wave that was not there to see it; nobody but Wave knows that.
  const lifted = hasGate(workload) ? "; its scheduler is restored" : "";
  return { outcome, reason: `its configuration is not what its hash was made from${lifted}`, currentHash };
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
