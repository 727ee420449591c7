import { contentChangedAt } from "../config/digest.ts";
import { findConfig, type Lookup } from "../config/view-of-references.ts";
import { isComplete } from "../model/kind-row.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { HoldReason, IncompleteRollout } from "../outcomes/outcomes.ts";
import { rejectsLive } from "../pinning/rejections.ts";
import type { PacingFlags } from "../policy/policy.ts";
import { isValidator, type Rules } from "../policy/rules.ts";
import { type ConfigName, parseConfigKey } from "../references/references.ts";
import { isDnsSubdomain } from "../syntax/names.ts";
import type { BatchMember } from "./batches.ts";
import type { DueWrite } from "./due.ts";
import type { LastWrite } from "./moment.ts";
import { storedFailedAlert } from "./rollout-result.ts";
import { hasSoaked, incompleteRollout } from "./rollout-time.ts";
import { type Stage, type StageFacts, stageOf } from "./stage.ts";
import { canCheck, validatorStage } from "./validator.ts";

/** Whether a workload is due for a change, or was admitted and is not written yet. Then: whether it was complete before. */
export type MemberPosition = "due" | { readonly wasComplete: boolean } | "none";

/** The last change of an object. Times are milliseconds since the epoch. */
export interface ObjectChange {
  readonly object: ConfigName;
  /** The time in the API, in whole seconds. */
  readonly changedAt: number;
  /** When this process saw the change, or started; undefined if that is no longer known. */
  readonly seenAt: number | undefined;
  /** Whether this process saw the change, so that its time is that of the change. Otherwise it may be that of a label. Default: no. */
  readonly isSeen?: boolean;
  /** Whether to wait for readers that must be planned first. Default: no. */
  readonly waitsForPlans?: boolean;
}

/** What the stages of all members are derived with. */
interface StageContext {
  readonly lookup: Lookup;
  readonly flags: PacingFlags;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What is known about a workload that reads a changed object. Times are milliseconds since the epoch. */
export interface MemberFacts extends Pick<StageFacts, "completeSince" | "advancedAt" | "newPods"> {
  /** The key by `workloadKey`. */
  readonly key: string;
  readonly workload: Workload;
  readonly rules: Pick<
    Rules,
    "batches" | "priority" | "resumedAt" | "validatorRequired" | "excludeConfigMaps" | "excludeSecrets"
  >;
  /** Whether it must be planned before others may start: it may have to roll first. Default: no. */
  readonly mustBePlanned?: boolean;
  /** The write that another hold than a batch delays; undefined if there is none. */
  readonly held: HeldWrite | undefined;
  /** Why Wave cannot roll it, as a clause for people. Default: Wave can. */
  readonly blocked?: string | undefined;
  /** Whether a plan has found the recorded hash current since everything that it reads last changed. Default: unknown. */
  readonly isCurrent?: boolean | undefined;
  /** The last write of this process that replaced Pods of this workload; undefined if there is none, or it is not known. */
  readonly lastWrite: WriteForChanges | undefined;
  /** The longest time for which the last rollout was complete, in milliseconds. */
  readonly completeMs: number;
  /** The alert by which its last rollout failed, as this process knows. Default: the stored one. */
  readonly failedAlert?: string | undefined;
}

/** A write of this process that replaced Pods. */
export interface WriteForChanges extends Pick<LastWrite, "at" | "hash"> {
  /** The keys of the changed objects for which this rollout was, and the rollouts before it back to the last one that passed. Default: not known. */
  readonly includes?: readonly string[] | undefined;
}

/** A write that is due and held. */
interface HeldWrite {
  readonly reason: HoldReason;
  /** The keys of the objects whose changes made it due, as far as they are newer than the workload; undefined: not known. */
  readonly changed: ReadonlySet<string> | undefined;
}

/** A change for one workload. */
type ChangeForMember = Pick<StageFacts, "changedAt" | "seenAt" | "awaited">;

/**
 * Returns a workload as a member of the batches of one change, with its stage. `config` is the key of the object. Undefined if
 * the change does not concern the workload, or if it takes no part in batches.
 */
export function batchMember(
  facts: MemberFacts,
  position: MemberPosition,
  config: string,
  change: ChangeForMember,
  context: StageContext,
): BatchMember | undefined {
  const { workload, rules } = facts;
  if (workload.deleting || workload.optIn.state !== "in" || !rules.batches.value) return undefined;
  const stage = stageAt(facts, position, config, change, context);
  const member = stage && { key: facts.key, priority: rules.priority.value, weight: weightOf(workload), stage };
  return member && isValidator(workload)
    ? { ...member, validator: rules.validatorRequired ? "required" : "optional" }
    : member;
}

/** Larger than any number of replicas. */
const manyReplicas = 2 ** 32;

/** Returns the weight of a workload: the smallest Deployment first, kinds without `replicas`, such as DaemonSets, last. */
function weightOf({ row, replicas = manyReplicas }: Workload): number {
  return replicas + (row.rollsFirst ? 0 : manyReplicas);
}

function stageAt(
  facts: MemberFacts,
  position: MemberPosition,
  config: string,
  change: ChangeForMember,
  { lookup, flags, now }: StageContext,
): Stage | undefined {
  const { workload, rules, held, isCurrent, lastWrite, completeSince, advancedAt, completeMs, newPods } = facts;
  // Its status is that of the previous rollout, or already of the new one if the write is not answered yet.
  if (typeof position === "object")
    return { state: "progressing", until: now + flags.rolloutTimeoutMs, wasComplete: position.wasComplete };
  // Times of the API are in seconds. A current workload that another process rolled in the second of the change rolled after it.
  const rolledInItsSecond =
    isCurrent === true && lastWrite === undefined && workload.rolledAt * 1000 === change.changedAt;
  // Without a write of this process, the write may be held because the hash was removed.
  const isUnexplained = held !== undefined && held.changed === undefined;
  const isCurrentWrite = lastWrite !== undefined && lastWrite.hash === workload.recordedHash;
  const reverted = lastWrite ? !isCurrentWrite : isUnexplained && hasLostHash(workload, lookup);
  const known = {
    workload,
    due: position === "due",
    isDueForIt: held?.changed?.has(config) === true,
    rejected: rejectsLive(workload, lookup, config),
    ...change,
    writtenAt: lastWrite?.at,
    rolledInItsSecond,
    reverted,
    completeSince,
    advancedAt,
    newPods,
    failedAlert: (facts.failedAlert ?? storedFailedAlert(workload)) !== undefined,
    isSecret: parseConfigKey(config).kind === "Secret",
    soaked: hasSoaked(completeMs, flags.soakMs),
    isForOthers: isCurrentWrite && lastWrite.includes?.includes(config) === false,
    resumed: rules.resumedAt,
  };
  if (!isValidator(workload)) return stageOf(known, flags, now);
  return validatorStage({ ...known, heldBy: held?.reason, blocked: facts.blocked }, flags, now);
}

/**
 * Reports whether another client removed or replaced the hash of a due workload, as far as the API shows: the workload has no
 * hash, or nothing that it reads has changed since its last rollout. A process that did not write the hash itself has no other
 * evidence. Returns false if an object is missing or regular expressions name objects: then that may be why it is due.
 */
export function hasLostHash(
  {
    references,
    peer,
    recordedHash,
    hashWrittenAt,
  }: Pick<Workload, "references" | "peer" | "recordedHash" | "hashWrittenAt">,
  lookup: Lookup,
): boolean {
  if (recordedHash === undefined) return true;
  if (peer !== undefined && peer.patterns.length > 0) return false;
  return references.every((reference) => {
    const config = findConfig(lookup, reference);
    return config !== undefined && (config.changedAt ?? 0) < hashWrittenAt;
  });
}

/**
 * Returns the changed objects whose batches must admit a workload; undefined if it does not take part in batches.
 *
 * Two kinds of workload take no part. A workload that gets its first hash while none of its Pods is available: a wait would only
 * let the first Pods run longer before they are replaced. And a workload whose rollout replaces no Pod: as a canary it would
 * prove nothing.
 */
export function batchedChanges(due: DueWrite): readonly ConfigName[] | undefined {
  const { workload, decision, changed, rules } = due;
  if (!rules.batches.value || !showsResult(due)) return undefined;
  if (decision.outcome === "firstHash" && hasNoPodYet(workload)) return undefined;
  // A text that no object can have as its name has not changed, and must not become part of a path.
  return changed.filter(({ name }) => isDnsSubdomain(name));
}

/**
 * Returns what is recorded with a rollout that shows nothing to the batches of its changes if it fails, because the workload is not complete
 * before; undefined for other rollouts. Also for a workload whose first Pods are being created.
 */
export function rolledIncompleteBy(due: DueWrite): IncompleteRollout | undefined {
  const { workload, moment, rules } = due;
  // Also with `batches: off`, which may be removed before the rollout fails.
  if (!showsResult(due) || isComplete(workload)) return undefined;
  // A bad edit is the reason why it is not complete. It must still check the next one.
  if (isValidator(workload) && canCheck(workload, lastChange(due))) return undefined;
  return incompleteRollout(workload, moment, rules.pacing.soakMs);
}

/** Returns when the content of the objects that made a workload due last changed, in milliseconds since the epoch; infinity if that is not known. */
function lastChange({ changed, lookup }: DueWrite): number {
  const times = changed.flatMap((object) => contentChangedAt(findConfig(lookup, object)) ?? []);
  return times.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...times) * 1000;
}

/** Reports whether there are batches, and the rollout of a workload shows them a result. */
function showsResult({ workload, rules }: DueWrite): boolean {
  return rules.pacing.maxConcurrent > 0 && workload.progress.state !== "idle";
}

/**
 * Reports whether a workload without a hash has no available Pod. A rollout in progress alone does not show this: the
 * annotation that opts in a Deployment raises its generation, which its status does not contain yet.
 */
function hasNoPodYet({ recordedHash, progress }: Workload): boolean {
  return recordedHash === undefined && progress.state === "progressing" && progress.available === 0;
}
