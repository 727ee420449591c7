import { parseWorkloadKey, type Workload } from "../model/workload-shape.ts";
import type { Hold } from "../outcomes/outcomes.ts";
import type { PacingFlags } from "../policy/policy.ts";
import type { ConfigName } from "../references/references.ts";
import { holdTexts } from "./hold-texts.ts";
import { secondAfter } from "./rollout-time.ts";
import type { Stage } from "./stage.ts";
import { failingBefore } from "./validator.ts";

/**
 * A change of one object, for the workloads of one namespace that read it. If the object is shared, each namespace has its own
 * canary, and failures halt only their own namespace.
 */
export interface BatchedChange {
  readonly object: ConfigName;
  readonly namespace: string;
  /** The workloads that the change concerns, in any order, without those with `batches: "off"`. */
  readonly members: readonly BatchMember[];
}

/** Returns the hold of the batches for a workload that is due because of changed objects; undefined if all batches admit it. */
export type BatchHoldLookup = (workload: Workload, changed: readonly ConfigName[]) => Hold | undefined;

/** A workload that a change concerns, and its stage. */
export interface BatchMember {
  /** The key by `workloadKey`. */
  readonly key: string;
  /** Workloads with a higher priority roll first. */
  readonly priority: number;
  /** Among workloads of equal priority, those with a smaller weight roll first. */
  readonly weight: number;
  readonly stage: Stage;
  /** Present if its Pods only check the change. "required": the change waits if they cannot. */
  readonly validator?: "optional" | "required";
}

/** The workloads of a {@link BatchedChange} that may start. */
export interface BatchAdmission {
  /** The keys of due workloads that may start now, in order. */
  readonly admitted: ReadonlySet<string>;
  /** The hold of all other due workloads. */
  readonly hold: Hold;
  /** Whether too many workloads failed, or a validator did. */
  readonly halted: boolean;
  /** Whether all others wait for a validator that checks the change now. */
  readonly validating: boolean;
  /** The validators that cannot check the change. */
  readonly unusable: readonly UnusableValidator[];
  /** The keys of the failed workloads that were complete before. */
  readonly failed: ReadonlySet<string>;
  /** Whether the canary has passed, so that the rest starts. */
  readonly canaryPassed: boolean;
  /** The keys of the workloads of the canary that roll now, or soak. */
  readonly canary: ReadonlySet<string>;
  /** When time alone may change the result, milliseconds since the epoch; undefined: never. */
  readonly nextCheckAt: number | undefined;
}

/** A validator that cannot check a change. */
export interface UnusableValidator {
  readonly key: string;
  /** A clause for people. */
  readonly why: string;
}

/**
 * Returns which workloads may start. First all validators start at once. The others wait until each validator has passed, and are halted if one
 * fails. A validator that cannot check the change delays nothing, unless it is required. Then one workload starts alone (the canary). When it has passed, the rest
 * starts, at most `maxConcurrent` at once. One failure in the canary, or `haltAfterFailures` failures later, halts all others
 * except workloads that a person resumed. A workload whose containers restart again and again, or during whose rollout an alert began to fire, is a failure of the canary, also later. A workload that is stuck is none: the others wait for it. If the change concerns only one workload, that workload does not wait.
 *
 * A workload that is not complete before its rollout shows nothing if it fails. So it comes with the rest, and its failure
 * halts nothing. If no workload is complete, such workloads are the canary: one of them may become complete by the change.
 *
 * The result depends only on the stages, so it is the same after a restart: batches are not stored. It is valid only now:
 * later another workload may have to start first.
 */
export function admitBatch(change: BatchedChange, flags: PacingFlags): BatchAdmission {
  const { object, namespace } = change;
  const [validators, members] = partition(change.members);
  const shown = members.filter(showsResult);
  const passed = countOf(shown, "passed");
  const nextCheckAt = earliestEnd(change.members);
  const failed = members.filter(({ stage }) => stage.state === "failed" && stage.wasComplete);
  const { failed: refusing, pending, unusable } = checksOf(validators);
  const isRequired = unusable.length > 0 && validators.some(({ validator }) => validator === "required");
  const isRefused = refusing.length > 0 || isRequired;
  const halted = isRefused || isHalted(failed, passed, members.length, flags);
  const progressing = countInProgress(members);
  const free = Math.max(0, flags.maxConcurrent - progressing);
  const checking = validators.filter(({ stage }) => stage.state === "due");
  const rollingNow = keysOf(
    validators.filter(({ stage }) => stage.state === "progressing" || stage.state === "soaking"),
  );
  const validating = pending.length > 0;
  const result = { halted, validating, unusable, canary: rollingNow, canaryPassed: false, nextCheckAt };
  if (halted) {
    const ended = isRefused ? refusing : failed;
    const resumed = members.filter(isResumedAfter(lastFailure(ended))).sort(inOrder);
    const hold = isRefused ? refusedHold(object, namespace, refusing[0], unusable[0]) : haltedHold(object, namespace);
    return { ...result, failed: keysOf(ended), admitted: keysOf([...checking, ...resumed.slice(0, free)]), hold };
  }
  const first = pending[0];
  if (first !== undefined)
    return {
      ...result,
      failed: keysOf(failed),
      admitted: keysOf(checking),
      hold: validatingHold(object, namespace, first),
    };
  const due = members.filter(({ stage }) => stage.state === "due").sort(inOrder);
  // A failure that does not halt ends the canary like a success.
  const ended = passed + failed.length;
  const inProgress = countInProgress(shown);
  const waitedFor = inProgress + countOf(shown, "soaking");
  const started = waitedFor + ended;
  const shownDue = due.filter(showsResult);
  const isNoneLeft = shownDue.length + waitedFor === 0;
  const canaryPassed = members.length <= 1 || ended > 0;
  const canary = isNoneLeft ? due.slice(0, Math.max(0, 1 - progressing)) : shownDue.slice(0, Math.max(0, 1 - started));
  const soaksUntil = !canaryPassed && started > 0 && inProgress === 0 ? nextCheckAt : undefined;
  const rolling = canaryPassed ? [] : members.filter(({ stage }) => stage.state === "soaking" || isInProgress(stage));
  const stuck =
    shownDue.length > 0 ? rolling.filter(({ stage }) => stage.state === "stuck").sort(inOrder)[0] : undefined;
  return {
    ...result,
    failed: keysOf(failed),
    admitted: keysOf([...checking, ...(canaryPassed ? due : canary).slice(0, free)]),
    canaryPassed,
    canary: keysOf(rolling),
    hold: batchHold(object, namespace, soaksUntil, stuck),
  };
}

function partition(members: readonly BatchMember[]): readonly [readonly BatchMember[], readonly BatchMember[]] {
  const isValidator = ({ validator }: BatchMember) => validator !== undefined;
  // Nearly every change has none.
  if (!members.some(isValidator)) return [[], members];
  return [members.filter(isValidator).sort(inOrder), members.filter((each) => !isValidator(each))];
}

/** What the validators of a change have shown. Those that passed, or that a person resumed, are in no list. */
interface Checks {
  readonly failed: readonly BatchMember[];
  /** Those that the others wait for. One that another hold delays comes first. */
  readonly pending: readonly BatchMember[];
  readonly unusable: readonly UnusableValidator[];
}

function checksOf(validators: readonly BatchMember[]): Checks {
  const failed: BatchMember[] = [];
  const pending: BatchMember[] = [];
  const held: BatchMember[] = [];
  const unusable: UnusableValidator[] = [];
  for (const member of validators) {
    const { key, stage } = member;
    if (stage.state === "failed") failed.push(member);
    else if (stage.state === "unusable") unusable.push({ key, why: stage.why });
    else if (stage.state === "held") held.push(member);
    else if (stage.state === "heldElsewhere" || stage.state === "soaking") pending.push(member);
    else if (stage.state === "due" || stage.state === "progressing") {
      if (!stage.wasComplete) unusable.push({ key, why: failingBefore });
      else if (stage.state === "progressing" || stage.resumedAt === undefined) pending.push(member);
    }
  }
  return { failed, pending: [...held, ...pending], unusable };
}

/** Matches members whose rollout shows, or has shown, whether the change is good. */
function showsResult({ stage }: BatchMember): boolean {
  return !("wasComplete" in stage) || stage.wasComplete;
}

/** Reports whether too many members failed, whatever else is due. */
function isHalted(
  failed: readonly BatchMember[],
  passed: number,
  members: number,
  { haltAfterFailures }: PacingFlags,
): boolean {
  if (haltAfterFailures === 0 || members <= 1) return false;
  const halts = failed.some(({ stage }) => stage.state === "failed" && stage.halts);
  return halts || failed.length >= (passed === 0 ? 1 : haltAfterFailures);
}

/** Reports whether others wait for the rollout. */
function isInProgress(stage: Stage): boolean {
  return stage.state === "progressing" || (stage.state === "stuck" && stage.until !== undefined);
}

function countInProgress(members: readonly BatchMember[]): number {
  return members.filter(({ stage }) => isInProgress(stage)).length;
}

function countOf(members: readonly BatchMember[], state: Stage["state"]): number {
  return members.filter(({ stage }) => stage.state === state).length;
}

/** Returns the time of the latest of these rollouts that failed, milliseconds since the epoch; 0 if none failed. */
function lastFailure(failed: readonly BatchMember[]): number {
  return failed.reduce((last, { stage }) => (stage.state === "failed" ? Math.max(last, stage.rolledAt) : last), 0);
}

/** Matches due members that a person resumed after the last rollout that failed, so that the person could know of all failures. */
function isResumedAfter(failure: number): (member: BatchMember) => boolean {
  return ({ stage }) =>
    stage.state === "due" && stage.resumedAt !== undefined && stage.resumedAt >= secondAfter(failure);
}

function earliestEnd(members: readonly BatchMember[]): number | undefined {
  let first = Number.POSITIVE_INFINITY;
  for (const { stage } of members)
    if ("until" in stage && stage.until !== undefined && stage.until < first) first = stage.until;
  return Number.isFinite(first) ? first : undefined;
}

/** Orders workloads that show a result first. */
function inOrder(a: BatchMember, b: BatchMember): number {
  return (
    Number(showsResult(b)) - Number(showsResult(a)) ||
    b.priority - a.priority ||
    a.weight - b.weight ||
    (a.key < b.key ? -1 : 1)
  );
}

function keysOf(members: readonly BatchMember[]): ReadonlySet<string> {
  return new Set(members.map(({ key }) => key));
}

/**
 * Returns the hold of waiting workloads. Its message has no numbers, so that hundreds of Events stay the same as batches proceed. `stuck`: the
 * member of the canary that is stuck, if one is.
 */
export function batchHold(object: ConfigName, namespace: string, until: number | undefined, stuck?: BatchMember): Hold {
  const message =
    stuck?.stage.state === "stuck"
      ? holdTexts.stuck(object, namespace, parseWorkloadKey(stuck.key), stuck.stage.reason)
      : holdTexts.batch(object, namespace);
  return { reason: "batch", message, until, object, warning: false };
}

function validatingHold(object: ConfigName, namespace: string, { key, stage }: BatchMember): Hold {
  const heldBy = stage.state === "held" ? stage.reason : undefined;
  const message = holdTexts.validating(object, namespace, parseWorkloadKey(key), heldBy);
  return { reason: "batch", message, until: undefined, object, warning: false };
}

/** Returns the hold of workloads whose change a validator refused, or which a required validator cannot check. */
function refusedHold(
  object: ConfigName,
  namespace: string,
  failed: BatchMember | undefined,
  unusable: UnusableValidator | undefined,
): Hold {
  const validator = parseWorkloadKey(failed?.key ?? unusable?.key ?? "");
  const exit = failed?.stage.state === "failed" ? failed.stage.exit : undefined;
  const message =
    failed === undefined
      ? holdTexts.validatorUnusable(object, namespace, validator, unusable?.why ?? "")
      : holdTexts.validatorFailed(object, namespace, validator, exit);
  return { reason: "validator", message, until: undefined, object, warning: true };
}

function haltedHold(object: ConfigName, namespace: string): Hold {
  return { reason: "halted", message: holdTexts.halted(object, namespace), until: undefined, object, warning: true };
}
