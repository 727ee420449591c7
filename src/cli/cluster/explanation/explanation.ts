// This folder explains the plan of a workload for all commands. It makes no request.
// Explains one workload: the plan, the state, and everything that they depend on. Pure: the snapshot holds all that was read.

import type { Compatibility, OptIn } from "../../../domain/compatibility/directive.ts";
import { readDirectives } from "../../../domain/compatibility/directives.ts";
import { directiveSourcesOf } from "../../../domain/compatibility/stakater-directives.ts";
import { readRecordedHash, recordedConfigFor } from "../../../domain/config/hash.ts";
import { type TrackedReferences, trackedReferences } from "../../../domain/config/tracked-references.ts";
import { describeObject, type Missing, missingFrom } from "../../../domain/config/view-of-references.ts";
import { fieldOfKind } from "../../../domain/model/kind-row.ts";
import { describeKeptPods, keepsAllPods, type RolloutStrategyName } from "../../../domain/model/rollout-strategy.ts";
import { hasSchedulingHold, isSchedulingHeld } from "../../../domain/model/scheduling-hold.ts";
import { collectReferences, compatibilitySourceOf } from "../../../domain/model/workload-references.ts";
import type { Workload, WorkloadName } from "../../../domain/model/workload-shape.ts";
import { isDue, type RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import { replacesPods } from "../../../domain/pacing/due.ts";
import { holdReasons, holdRows } from "../../../domain/pacing/holds.ts";
import { isPinned } from "../../../domain/pinning/pin-request.ts";
import { decide } from "../../../domain/plan/decide.ts";
import { parseVerdict } from "../../../domain/plan/verdict.ts";
import { readConfigOf, withReadsOf } from "../../../domain/pods/observed-pod.ts";
import { configStateOf } from "../../../domain/pods/pod-state.ts";
import { parseSpans } from "../../../domain/pods/spans.ts";
import type { HashKeys } from "../../../domain/policy/hash-key.ts";
import { rulesFor } from "../../../domain/policy/rules.ts";
import { type ConfigName, configKey, describeLimitExceeded } from "../../../domain/references/references.ts";
import type { Warning } from "../../../domain/references/warning.ts";
import { presentOf, type ReadConfigs } from "../read/configs.ts";
import { countPods, type PodCount, type RunningPod } from "../read/pods.ts";
import { type HashForm, hashFormOf } from "../running-wave/known-policy.ts";
import {
  changedSinceRollout,
  describeLastChange,
  dueSince,
  isUnread,
  lookupIn,
  readableReferences,
  worldOf,
} from "../snapshot/live-plan.ts";
import { type BatchPlace, type WorkloadSnapshot, withAllReferences } from "../snapshot/workload-snapshot.ts";
import { assessState } from "../states/assess-state.ts";
import {
  missingPins,
  type PodPinning,
  podPinning,
  readsTemplate,
  rolledBackConfigMaps,
} from "../states/pod-pinning.ts";
import type { KubernetesReason, WorkloadStateName } from "../states/state-rows.ts";
import {
  type ExplainedOutcome,
  type ExplainedReference,
  explainedOutcome,
  explainedReference,
  heldOrRead,
  timeOf,
} from "./explained-outcome.ts";
import {
  type DecidedPolicy,
  decidedPolicy,
  type HeldChange,
  heldChange,
  heldChangeNotes,
  workloadNotes,
} from "./workload-notes.ts";

/** A configuration object that could not be read, so that the plan is unknown. */
export interface UnreadObject extends ConfigName {
  readonly error: string;
}

/** The output of `wave explain -o json`; contributing/messages.md promises its fields. Contains no value and no digest of a value. */
export interface Explanation extends ExplainedOutcome {
  readonly version: 1;
  readonly workload: WorkloadName;
  readonly optIn: OptIn["state"] | "left alone";
  /** How a change of configuration reaches the Pods. */
  readonly strategy: RolloutStrategyName;
  /** The controllers whose annotations opt the workload in. */
  readonly compatibility: readonly Compatibility[];
  /** The state, from the plan and the progress of the last rollout. */
  readonly state: WorkloadStateName;
  /** The cause of the state as one word; null if the state needs none. */
  readonly because: string | null;
  /** The cause of the state as one line for people; null if the state needs none. */
  readonly message: string | null;
  /** Why Kubernetes cannot create or replace the Pods; null if it reports no failure. */
  readonly kubernetes: KubernetesReason | null;
  /** Start of the state as the API shows it, RFC 3339. */
  readonly since: string | null;
  /** The number of Pods, and of those with the current configuration; null if unknown. */
  readonly pods: PodCount | null;
  /** How many Pods read the pinned copies of the pod template; null if the template has no pins, or the Pods are unknown. */
  readonly pinning: PodPinning | null;
  /** The ConfigMaps whose content was rolled back, so that new Pods read pinned copies. */
  readonly rolledBack: readonly string[];
  /** The place in the batches of its change; null if it takes no part in batches, or if it is not due. */
  readonly batch: BatchPlace | null;
  /** How many Pods of the old revision may read the held change; null if no change is held, or the Pods are unknown. */
  readonly heldChange: HeldChange | null;
  /** Why Kubernetes keeps all Pods after a rollout, for people; null if it replaces them. */
  readonly keptPods: string | null;
  /** The annotations and flags that decide when the workload rolls, without flags at their defaults. */
  readonly policy: readonly DecidedPolicy[];
  /** The hash in the pod template. */
  readonly recordedHash: string | null;
  /** The hash of what the Pods read, from the annotation `recorded-config`; null if the hash in the pod template shows it. */
  readonly recordedConfig: string | null;
  /** The key of the recorded hash; null if there is no hash, or a hash of another algorithm. */
  readonly recordedUnder: HashForm;
  /** "closed" if the scheduling hold keeps new Pods pending, "left" if another client ended it and only its annotation is left. */
  readonly schedulingHold: "closed" | "left" | "open";
  /** One entry for each place that references an object, also if the workload has not opted in; empty if a limit is exceeded. */
  readonly references: readonly ExplainedReference[];
  /** Why no reference is listed if a limit is exceeded; otherwise null. */
  readonly limitExceeded: string | null;
  /** What Pods cannot start without and does not exist. */
  readonly missing: readonly Missing[];
  readonly unread: readonly UnreadObject[];
  readonly warnings: readonly Warning[];
  /** Other settings that decide when Pods are replaced, one line each, for people. */
  readonly notes: readonly string[];
}

/** Decides what Wave would do with a workload now, from the objects that could be read. */
export function explainDecision(snapshot: WorkloadSnapshot) {
  const { found, read, policy, pods, kubernetes, now, batch } = snapshot;
  const reader = withAllReferences(found, policy);
  const { untracked, references } = trackedReferences(reader, lookupIn(read), rulesFor(reader, policy));
  const unread = unreadObjects(reader, read).filter((object) => !untracked.has(configKey(object)));
  const world = { ...worldOf(found, read, policy, now, { pods, kubernetes }), batchHold: batch };
  const first = decide(world);
  const mixed = first.outcome === "current" ? mixedPods(snapshot, references) : new Set<string>();
  const total = pods.state === "read" ? pods.of(found.workload).length : 0;
  const withMixed = { ...world.moment, mixed: { mixed: mixed.size, total, cause: "reverted" } as const };
  const decided = mixed.size === 0 ? first : decide({ ...world, moment: withMixed });
  const plan = withPublishedAlert(decided, found.workload);
  const explained = explainedOutcome(plan, unread, snapshot);
  return { reader, untracked, unread, plan, mixed, explained };
}

/** Returns the plan as the leader holds it: only the leader knows the alerts, and publishes that one holds a rollout. */
function withPublishedAlert(plan: RolloutPlan, workload: Workload): RolloutPlan {
  const verdict = parseVerdict(workload.state);
  const reason = holdReasons.find((each) => verdict?.state === "held" && each === verdict.reason);
  const message = reason && holdRows[reason].published;
  const due = plan.outcome === "held" && plan.hold.reason === "batch" ? plan.due : isDue(plan) ? plan : undefined;
  if (reason === undefined || message === undefined || due === undefined || !replacesPods(workload, due)) return plan;
  const hold = { reason, message, until: undefined, warning: false };
  return { outcome: "held", due, hold, reason: plan.reason, warnings: plan.warnings };
}

/** Returns a note with the flags of the running Wave if they decide another outcome or hold of a workload than the default flags; otherwise undefined. */
export function noteOfFlags(snapshots: readonly WorkloadSnapshot[]): string | undefined {
  const changed = snapshots.find(({ found, read, policy, now, pods, batch: batchHold }) => {
    if (policy.inherited === undefined) return false;
    const [plan, other] = [policy, { ...policy, ...policy.inherited.without }].map((each) =>
      decide({ ...worldOf(found, read, each, now, { pods }), batchHold }),
    );
    return plan?.outcome !== other?.outcome || heldBy(plan) !== heldBy(other);
  });
  return changed?.policy.inherited?.note;
}

function heldBy(plan: RolloutPlan | undefined): string | undefined {
  return plan?.outcome === "held" ? plan.hold.reason : undefined;
}

/** What a Pod runs, as the explanation of its workload counts it. "unknown": the current configuration is unknown. */
export type PodContent = "current" | "mixed" | "old" | "unknown";

/** An explanation, and what each Pod runs. */
export interface ExplainedPods {
  readonly explanation: Explanation;
  readonly contentOf: (pod: RunningPod) => PodContent;
}

/** Explains what Wave would do with a workload now, and everything that the decision depends on. */
export function explainWorkload(snapshot: WorkloadSnapshot): Explanation {
  return explainPods(snapshot).explanation;
}

/** Returns the same as {@link explainWorkload}, and what each Pod runs. */
export function explainPods(snapshot: WorkloadSnapshot): ExplainedPods {
  const { found, unnamed, read, policy, pods, kubernetes, now, place, others, gaps, published } = snapshot;
  const { reader, untracked, unread, plan, mixed, explained } = explainDecision(snapshot);
  const { object, workload } = found;
  const { keys, pacing: flags } = policy;
  const lookup = lookupIn(read);
  const readable = { ...reader, references: readableReferences(reader.references, read) };
  const counted = trackedReferences(readable, lookup, rulesFor(readable, policy));
  const { kind, namespace, name, optIn, recordedHash } = workload;
  const rules = rulesFor(workload, policy);
  const source = compatibilitySourceOf(object);
  const directives = readDirectives(source, policy);
  const optingIn = directives.filter((directive) => directive.optIn.state === "in");
  const written =
    reader.limitExceeded === undefined
      ? collectReferences(object, optingIn.length > 0 ? optingIn : undefined, policy)
      : [];
  const named = new Set(written.map(configKey));
  // No place names the objects that a regular expression matches.
  const places = [...written, ...reader.references.filter((reference) => !named.has(configKey(reference)))].map(
    (reference) => ({ ...reference, path: fieldOfKind(workload.row, reference.path) }),
  );
  const back = rolledBackConfigMaps(workload, lookup, rules);
  const running = pods.state === "read" ? pods.of(workload) : undefined;
  const isPublished = explained.judgedAt !== null;
  const isCurrent = currentPods(workload, plan, explained, counted, policy.hashKeys);
  const isTrulyCurrent =
    isCurrent &&
    ((pod: RunningPod) => isCurrent(pod) && !mixed.has(pod.observed.uid) && readsTemplate(workload, pod, lookup, back));
  const readConfig = readConfigOf(counted.references);
  const terminating = pods.state === "read" ? pods.terminating(workload) : [];
  const podCount = running && isTrulyCurrent && countPods(running, terminating, isTrulyCurrent);
  const pinning = running === undefined ? null : podPinning(workload, running);
  const changedAt = dueSince({ object, workload: readable }, read, now);
  const held =
    running && isTrulyCurrent && !isPublished
      ? heldChange(plan, workload, running, isTrulyCurrent, {
          keys: changedSinceRollout(workload, read),
          at: changedAt,
          readConfig,
        })
      : null;
  // The next rollout is held, although none is due now.
  const isArmed =
    rules.hold.value || workload.references.some((reference) => heldOrRead(read.get(configKey(reference))) === "held");
  const { state, because, message, since } = assessState({
    object,
    workload,
    ...explained,
    unread:
      published && "why" in published && published.mayCome
        ? "notJudged"
        : unread[0]
          ? read.get(configKey(unread[0]))?.state
          : unnamed?.state,
    verdict: isPublished && published && "verdict" in published ? published.verdict : undefined,
    pods,
    podCount,
    pinning,
    rolledBack: [...back].sort(),
    unproven: plan.outcome === "current" ? plan.unproven : undefined,
    lastChange: describeLastChange(workload, read),
    kubernetes,
    dueSince: changedAt,
    flags,
    now,
  });
  // Nothing is due, but Pods may run something else than the pod template.
  const isUnfinished = explained.outcome === "current" && ["failed", "rolling", "behind"].includes(state);
  const contentOf = (pod: RunningPod): PodContent => {
    if (!isTrulyCurrent) return "unknown";
    if (mixed.has(pod.observed.uid)) return "mixed";
    return isTrulyCurrent(pod) ? "current" : "old";
  };
  const explanation: Explanation = {
    version: 1,
    workload: { kind, namespace, name },
    strategy: workload.strategy.name,
    optIn: optIn.state === "out" && optIn.controlledBy !== undefined ? "left alone" : optIn.state,
    compatibility: directives.filter((each) => each.optIn.state === "in").map(({ compatibility }) => compatibility),
    state,
    because: because || (state === "current" && isArmed ? "hold" : null),
    message: message || null,
    kubernetes,
    since: timeOf(since),
    ...explained,
    reason: isUnfinished && recordedHash !== undefined ? "the pod template has the current hash" : explained.reason,
    pods: podCount ?? null,
    pinning,
    rolledBack: [...back].sort(),
    batch: place ?? null,
    heldChange: held,
    keptPods: keepsAllPods(workload) ? describeKeptPods(workload.keptPods) : null,
    policy: decidedPolicy(workload, policy),
    recordedHash: recordedHash ?? null,
    recordedConfig: recordedConfigFor(recordedHash ?? "", workload.recordedConfig)?.hash ?? null,
    recordedUnder: hashFormOf(recordedHash, keys),
    schedulingHold: isSchedulingHeld(workload) ? "closed" : hasSchedulingHold(workload) ? "left" : "open",
    references: places.map((reference) => {
      const key = configKey(reference);
      const state = counted.refusedKeys.has(key) ? "refused" : untracked.get(key);
      return {
        ...explainedReference(reference, state ?? heldOrRead(read.get(key)), lookup),
        trackedBy: directiveSourcesOf(reference, source, directives, policy.compatibility),
      };
    }),
    limitExceeded:
      reader.limitExceeded === undefined
        ? null
        : describeLimitExceeded(reader.limitExceeded, (one) => describeObject(one, namespace)),
    missing: missingFrom(counted.references, counted.lookup),
    unread,
    warnings: [...plan.warnings, ...misusedOn(reader, read)],
    notes: [
      ...missingPins(workload, rules),
      ...heldChangeNotes(held, workload, isPinned(workload, rules)),
      ...workloadNotes(object, workload),
      ...others,
      ...gaps,
    ],
  };
  return { explanation, contentOf };
}

/** Returns whether a Pod has the current hash; undefined if that is unknown. If the workload reads no configuration, every Pod has it. */
function currentPods(
  workload: Workload,
  plan: RolloutPlan,
  { outcome, judgedAt }: Pick<Explanation, "outcome" | "judgedAt">,
  { references }: TrackedReferences,
  hashKeys: HashKeys | undefined,
): ((pod: RunningPod) => boolean) | undefined {
  if (outcome === "unknown" || !workload.strategy.podsCarryHash) return undefined;
  if (judgedAt !== null) return outcome === "current" ? ({ hash }) => hash === workload.recordedHash : undefined;
  const decided = plan.outcome === "held" ? plan.due : plan;
  if (!("view" in decided)) return undefined;
  const { view } = decided;
  if (decided.outcome === "current" && decided.unproven !== undefined) return () => false;
  const readsNothing = references.every(({ reads }) => reads === "existence");
  const { recordedHash, recordedConfig } = workload;
  const keepsPods = plan.outcome === "current" || plan.outcome === "recorded";
  const matches = (hash: string | undefined) =>
    readRecordedHash({ recordedHash: hash, recordedConfig }, view, hashKeys).state === "current";
  return ({ hash }) => readsNothing || matches(hash) || (keepsPods && hash !== undefined && hash === recordedHash);
}

/** Returns the uids of the Pods that may run configuration that was reverted, by the annotation of their workload. */
function mixedPods(
  { found, pods, now }: WorkloadSnapshot,
  references: TrackedReferences["references"],
): ReadonlySet<string> {
  const { differed, recordedHash: hash, rolledAt } = found.workload;
  const spans = parseSpans(differed, hash, now);
  if (spans.length === 0 || pods.state !== "read") return new Set();
  const config = readConfigOf(references);
  const history = { hash, spans, changedAt: undefined, rolledAt: rolledAt * 1000 };
  const isMixed = ({ observed }: RunningPod) => configStateOf(withReadsOf(observed, config), history) === "mixed";
  return new Set(
    pods
      .of(found.workload)
      .filter(isMixed)
      .map(({ observed }) => observed.uid),
  );
}

/** Returns a warning for each object with annotations or labels that have no effect on it. */
function misusedOn({ references, namespace }: Workload, read: ReadConfigs): readonly Warning[] {
  const objects = new Map(references.map((reference) => [configKey(reference), reference]));
  return [...objects].flatMap(([key, object]) => {
    const misused = presentOf(read.get(key))?.config.misused;
    if (misused === undefined) return [];
    return [{ reason: "InvalidAnnotation", message: `${describeObject(object, namespace)}: ${misused}` }];
  });
}

function unreadObjects({ references }: Workload, read: ReadConfigs): readonly UnreadObject[] {
  const objects = new Map(references.map((reference) => [configKey(reference), reference]));
  return [...objects].flatMap(([key, { kind, namespace, name }]) => {
    const found = read.get(key);
    return isUnread(found) ? [{ kind, namespace, name, error: found.error }] : [];
  });
}
