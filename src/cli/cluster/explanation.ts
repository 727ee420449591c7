import { askersFor } from "../../domain/compatibility/directive-sources.ts";
import { askedOf, askersOf } from "../../domain/compatibility/directives.ts";
import type { Compatibility } from "../../domain/compatibility/settings.ts";
import { describeObject } from "../../domain/config/messages.ts";
import { readRecordedHash } from "../../domain/config/recorded.ts";
import { type TrackedReferences, trackedReferences } from "../../domain/config/tracked-references.ts";
import { missingFrom } from "../../domain/config/view.ts";
import { fieldOfKind } from "../../domain/model/kind-row.ts";
import type { RolledBy } from "../../domain/model/rollout-strategy.ts";
import { isSchedulingHeld } from "../../domain/model/scheduling-hold.ts";
import { type OptIn, podsCarryHash, type Workload, type WorkloadName } from "../../domain/model/workload.ts";
import { collectReferences, referencesOf, sourceOf } from "../../domain/model/workload-references.ts";
import type { Moment } from "../../domain/pacing/moment.ts";
import type { Missing, RolloutPlan, Warning } from "../../domain/plan/plan.ts";
import { describeLimitExceeded } from "../../domain/references/limits.ts";
import { type ConfigName, configKey } from "../../domain/references/references.ts";
import { type DecidedPolicy, decidedPolicy } from "./decided-policy.ts";
import { type ExplainedOutcome, explainedOutcome, timeOf } from "./explained-outcome.ts";
import { type ExplainedReference, explainedReference } from "./explained-reference.ts";
import { type KnownPolicy, policyOf } from "./inherited-flags.ts";
import type { KubernetesReason } from "./kubernetes-reason.ts";
import { isUnread, lookupIn, planLive, readableReferences, dueSince } from "./live-plan.ts";
import { countPods, type PodCount, type ReadPods } from "./pods.ts";
import type { ReadConfigs, UnreadConfig } from "./read-configs.ts";
import type { FoundWorkload } from "./read-workloads.ts";
import { type HashForm, hashFormOf } from "./hash-keys.ts";
import { workloadNotes } from "./workload-notes.ts";
import { assessState, type WorkloadState } from "./workload-state.ts";

/** An object without which nobody can say what Wave does. */
export interface UnreadObject extends ConfigName {
  readonly error: string;
}

/** What `wave explain -o json` prints; docs/commands.md promises its fields. Never a value, never a digest of one. */
export interface Explanation extends ExplainedOutcome {
  readonly version: 1;
  readonly workload: WorkloadName;
  readonly optIn: OptIn["state"] | "left alone";
  /** What brings Pods with other configuration. */
  readonly rolledBy: RolledBy;
  /** The dialects that opt it in. */
  readonly compatibility: readonly Compatibility[];
  /** Where it stands, by what Wave would do and what became of its Pods. */
  readonly state: WorkloadState;
  /** Why it stands there, as one word; null where there is nothing to say. */
  readonly because: string | null;
  /** The same in one line for a person; null where there is nothing to say. */
  readonly message: string | null;
  /** What Kubernetes itself says where it cannot make or replace its Pods; null where it says nothing. */
  readonly kubernetes: KubernetesReason | null;
  /** Since when, as far as the API tells it, RFC 3339. */
  readonly since: string | null;
  /** How many of its Pods run with the current configuration; null where that is not known. */
  readonly pods: PodCount | null;
  /** What decides when it is rolled, but for the flags that are as they are by themselves. */
  readonly policy: readonly DecidedPolicy[];
  readonly recordedHash: string | null;
  /** Under which key the recorded hash is; null where there is none, or one of another algorithm. */
  readonly recordedUnder: HashForm;
  /** "closed" where the scheduling gate keeps its new Pods pending. */
  readonly schedulingHold: "closed" | "open";
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
export function withAllReferences(
  { object, workload }: FoundWorkload,
  sources: Pick<KnownPolicy, "providerClasses">,
): Workload {
  if (workload.limitExceeded !== undefined || workload.optIn.state === "in") return workload;
  const { merged = [], limitExceeded } = referencesOf(object, undefined, sources);
  return { ...workload, references: merged, limitExceeded };
}

/** What an explanation is made from. */
export interface WorkloadSnapshot {
  readonly found: FoundWorkload;
  /** Why it is not known what its regular expressions name; undefined where it is. */
  readonly unnamed: UnreadConfig | undefined;
  readonly read: ReadConfigs;
  readonly policy: KnownPolicy;
  readonly pods: ReadPods;
  /** What Kubernetes says of Pods that it cannot make. */
  readonly kubernetes: KubernetesReason | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Who else goes first, where others were read. */
  readonly batch: Moment["batch"];
  /** Who these are, and where, a line each. */
  readonly others: readonly string[];
  /** What else could not be read and may matter, a line each. */
  readonly gaps: readonly string[];
}

/** What Wave would do with a workload now, by `planRollout`, and everything that this hangs on. */
export function explainWorkload({
  found,
  unnamed,
  read,
  policy,
  pods,
  kubernetes,
  now,
  batch,
  others,
  gaps,
}: WorkloadSnapshot): Explanation {
  const { object, workload } = found;
  const { keys, pacing: flags } = policy;
  const lookup = lookupIn(read);
  const reader = withAllReferences(found, policy);
  const { untracked } = trackedReferences(reader, lookup, policyOf(policy));
  const unread = unreadObjects(reader, read).filter((object) => !untracked.has(configKey(object)));
  const readable = { ...reader, references: readableReferences(reader.references, read) };
  const counted = trackedReferences(readable, lookup, policyOf(policy));
  const plan = planLive(found, read, policy, now, batch);
  const { kind, namespace, name, optIn, recordedHash } = workload;
  const source = sourceOf(object);
  const asked = askedOf(source, policy);
  const written = reader.limitExceeded === undefined ? collectReferences(object, askersOf(source, policy), policy) : [];
  const named = new Set(written.map(configKey));
  // What regular expressions match is written nowhere by its name.
  const places = [...written, ...reader.references.filter((reference) => !named.has(configKey(reference)))].map(
    (reference) => ({ ...reference, path: fieldOfKind(workload.row, reference.path) }),
  );
  const told = explainedOutcome(plan, { unread, unnamed: unnamed?.error }, workload, keys);
  const podCount = pods.state === "read" ? podsOf(workload, plan, told.outcome, counted, pods, policy) : undefined;
  const { state, because, message, since } = assessState({
    object,
    workload,
    ...told,
    hold: plan.outcome === "held" ? plan.hold : undefined,
    unread: unread[0] ? read.get(configKey(unread[0]))?.state : unnamed?.state,
    pods,
    podCount,
    kubernetes,
    waitsSince: dueSince({ object, workload: readable }, read, now),
    flags,
    now,
  });
  return {
    version: 1,
    workload: { kind, namespace, name },
    rolledBy: workload.rolledBy,
    optIn: optIn.state === "out" && optIn.madeBy !== undefined ? "left alone" : optIn.state,
    compatibility: asked.filter((each) => each.optIn.state === "in").map(({ compatibility }) => compatibility),
    state,
    because: because || null,
    message: message || null,
    kubernetes,
    since: timeOf(since),
    ...told,
    pods: podCount ?? null,
    policy: decidedPolicy(workload, policy),
    recordedHash: recordedHash ?? null,
    recordedUnder: hashFormOf(recordedHash, keys),
    schedulingHold: isSchedulingHeld(workload) ? "closed" : "open",
    references: places.map((reference) => {
      const key = configKey(reference);
      const state = counted.refusedKeys.has(key) ? "refused" : untracked.get(key);
      return {
        ...explainedReference(reference, state ?? read.get(key)?.state ?? "absent", lookup),
        askedBy: askersFor(reference, source, asked, policy.compatibility),
      };
    }),
    tooLarge:
      reader.limitExceeded === undefined
        ? null
        : describeLimitExceeded(reader.limitExceeded, (one) => describeObject(one, namespace)),
    missing: missingFrom(counted.references, counted.lookup),
    unread,
    warnings: plan.warnings,
    notes: [...workloadNotes(object, workload), ...others, ...gaps],
  };
}

/** Pods run with the current configuration where the hash that they carry stands for it; where none is read, all do. */
function podsOf(
  workload: Workload,
  plan: RolloutPlan,
  outcome: Explanation["outcome"],
  { references }: TrackedReferences,
  pods: Extract<ReadPods, { readonly state: "read" }>,
  policy: KnownPolicy,
): PodCount | undefined {
  const decided = plan.outcome === "held" ? plan.due : plan;
  if (outcome === "unknown" || !("view" in decided) || !podsCarryHash(workload)) return undefined;
  const { view } = decided;
  const readsNothing = references.every(({ reads }) => reads === "existence");
  const { recordedHash, recordedConfig } = workload;
  const keepsPods = plan.outcome === "current" || plan.outcome === "recorded";
  const stands = (hash: string | undefined) =>
    readRecordedHash({ recordedHash: hash, recordedConfig }, view, policyOf(policy).hashKeys).tells === "same";
  return countPods(pods.of(workload), (hash) => {
    return readsNothing || stands(hash) || (keepsPods && hash !== undefined && hash === recordedHash);
  });
}

function unreadObjects({ references }: Workload, read: ReadConfigs): readonly UnreadObject[] {
  const objects = new Map(references.map((reference) => [configKey(reference), reference]));
  return [...objects].flatMap(([key, { kind, namespace, name }]) => {
    const found = read.get(key);
    return isUnread(found) ? [{ kind, namespace, name, error: found.error }] : [];
  });
}
