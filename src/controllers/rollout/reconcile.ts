// The rollout controller: rolls workloads whose configuration changed. This file brings one workload to its plan.

import type { Caches } from "../../cache/caches.ts";
import type { PodLists } from "../../cache/live/listed-pods.ts";
import { isVerified, needsLegacyVerification } from "../../domain/config/legacy/legacy-verification.ts";
import { changesTemplate, fieldOfKind, resourceName } from "../../domain/model/kind-row.ts";
import { MalformedWorkload, type Workload } from "../../domain/model/workload.ts";
import type { Hold } from "../../domain/outcomes/hold.ts";
import { isDue, isRollAgain } from "../../domain/outcomes/outcomes.ts";
import { failedAlertOf } from "../../domain/pacing/failed-alert.ts";
import { holdRows } from "../../domain/pacing/holds.ts";
import type { NamespaceAlerts } from "../../domain/pacing/moment.ts";
import { rolloutResult } from "../../domain/pacing/rollout-result.ts";
import { patchFor } from "../../domain/patch/workload-patch.ts";
import { isPinned } from "../../domain/pinning/pin-request.ts";
import { withRejected } from "../../domain/pinning/rejections.ts";
import { decide } from "../../domain/plan/decide.ts";
import { type Lookup, planRollout, type RolloutPlan } from "../../domain/plan/plan.ts";
import { type Verdict, verdictOf } from "../../domain/plan/verdict.ts";
import type { NewPods } from "../../domain/pods/new-pods.ts";
import { policyFor } from "../../domain/policy/cluster-policy.ts";
import { unpaced } from "../../domain/policy/pacing-flags.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { rolloutPolicyOf } from "../../domain/policy/rollout-policy.ts";
import type { ConfigName } from "../../domain/references/references.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { applyPlan } from "./apply/apply.ts";
import { mayHaveStuckPods, replaceStuckPods } from "./apply/replace-stuck-pods.ts";
import { type PinsForWrite, storePins } from "./apply/store-pins.ts";
import { areCachesFresh, rememberCaughtUp, rememberOwnWrite } from "./freshness/caught-up.ts";
import { type LivePlanOptions, planLive } from "./freshness/live-plan.ts";
import { readFailure } from "./freshness/live-reads.ts";
import {
  outcomeWithoutCache,
  outcomeWithoutWrite,
  rememberUncertainWrite,
  writtenOutcome,
} from "./freshness/uncertain-write.ts";
import { readUnlisted } from "./freshness/unlisted-secrets.ts";
import { rememberNewest, takeNewest } from "./memory/newest-workload.ts";
import type { ReconcileOutcome } from "./memory/outcome.ts";
import {
  hasBeenComplete,
  lastWriteAfter,
  momentOf,
  rememberFailedAlert,
  rememberProgress,
} from "./memory/pacing-memory.ts";
import type { RememberedViews } from "./memory/remembered-views.ts";
import { seenAnnotations } from "./memory/seen-annotations.ts";
import { hasOtherTemplate, seenPins } from "./memory/seen-pins.ts";
import type { Findings, WorkloadMemory, Writable } from "./memory/workload-memory.ts";
import {
  findMixedPods,
  type MixedPodsOptions,
  mixedPodsOf,
  observeRun,
  rememberProven,
  rememberRolledAgain,
} from "./mixed-pods/mixed-pods.ts";
import { isPublished, noteState } from "./note-state.ts";
import { refusedTexts } from "./report/event-texts.ts";
import { updateRejections } from "./update-rejections.ts";

/** What {@link reconcile} needs. */
export interface ReconcileOptions extends LivePlanOptions, Pick<MixedPodsOptions, "reading"> {
  readonly client: Pick<ApiClient, "request" | "stream">;
  readonly caches: Pick<Caches, "lookup" | "syncedUpTo" | "absentSince" | "workload" | "kinds" | "copiesIn">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether webhooks are on. They reject in the request, if the API server asks them in time. */
  readonly webhooks: boolean;
  readonly views: Pick<RememberedViews, "of" | "remember">;
  readonly pods: PodLists;
  /** Returns what the Pods of the last rollout show. */
  readonly newPods: (workload: Workload) => NewPods | undefined;
  /** Returns what the alert gate knows of a namespace. Default: there is no gate. */
  readonly alerts?: ((namespace: string) => NamespaceAlerts) | undefined;
}

/** One run for one workload. */
export interface ReconcileRun {
  readonly key: string;
  /** Read only: changes that are seen during the run appear in it. */
  readonly memory: Pick<WorkloadMemory, "changes" | "heldBy" | "unpinned">;
  /** The run's own copy, which it changes. */
  readonly findings: Writable<Findings>;
  /** Takes a permit for one write. Returns false if there is no permit. */
  readonly takePermit: () => boolean;
  /** Returns a permit that was taken and not used. */
  readonly returnPermit: () => void;
  /**
   * Takes a permit for a note on the workload, or to delete a Pod that keeps it from its return. If there is none, the workload is reconciled
   * again when it has one.
   */
  readonly takeNotePermit: () => boolean;
  /** Returns the hold of the batches of these changes; undefined if all of them admit the workload. */
  readonly batchHold: (changed: readonly ConfigName[], lookup: Lookup) => Hold | undefined;
  /** Reports whether the last plan is for content that the batches do not know yet. */
  readonly isBatchBehind: () => boolean;
}

const noPins: PinsForWrite = { type: "pins", pins: {} };

/** How many times a workload that changed during the run is read and planned again at once. */
const triesAtOnce = 3;

/**
 * Brings one workload to its plan, with at most one write of the plan. Notes on the workload, and Pods that keep it from its return, are further
 * writes. The decision is made by `decide`: from the caches, or from
 * live reads if the caches may be behind. A key must never be reconciled twice at once. Rejects only for a bug.
 */
export async function reconcile(run: ReconcileRun, options: ReconcileOptions): Promise<ReconcileOutcome> {
  try {
    const { findings, takeNotePermit: takePermit } = run;
    const { changes, unpinned } = run.memory;
    const outcome = await reconcileWorkload(run, options);
    const differed = observeRun(outcome, changes, findings, unpinned, options);
    findings.isPublished = outcome.type === "written";
    if (outcome.type !== "done") return outcome;
    const { workload, plan } = outcome;
    const own = policyFor(workload, options.policy);
    const verdict = verdictNow(run, workload, plan, own, options);
    const { mode } = rolloutPolicyOf(workload, own);
    // Readers see in the annotation of the workload that Wave publishes nothing.
    const isObserved = mode.value === "observe" && mode.by === "workload";
    findings.isPublished = isObserved || isPublished(workload, verdict);
    await noteState(workload, plan, verdict, differed, findings, {
      ...options,
      takePermit,
    });
    return await withoutStuckPods(outcome, run, options);
  } catch (error) {
    // The stored object is not a valid workload any more. If it becomes valid again, that is a change.
    if (error instanceof MalformedWorkload) return { type: "gone" };
    throw error;
  }
}

/** Returns the verdict on a workload after a run. */
function verdictNow(
  { memory, findings }: ReconcileRun,
  workload: Workload,
  plan: RolloutPlan,
  own: Policy,
  { clock, policy, caches, newPods }: ReconcileOptions,
): Verdict | undefined {
  const moment = { ...momentOf(memory, findings, workload, clock), newPods: newPods(workload) };
  const isPinnedBack = workload.rejected !== undefined && isPinned(workload, own);
  return verdictOf(workload, plan, {
    rollout: rolloutResult(workload, policy.pacing ?? unpaced, moment),
    newPods: moment.newPods,
    failedAlert: failedAlertOf(workload, moment),
    isRolledBack: isPinnedBack && withRejected(workload, caches.lookup, own).kept.size > 0,
  });
}

/** Replaces the Pods that keep a workload from its return to earlier pins. */
async function withoutStuckPods(
  outcome: Extract<ReconcileOutcome, { readonly type: "done" }>,
  { takeNotePermit: takePermit }: ReconcileRun,
  options: ReconcileOptions,
): Promise<ReconcileOutcome> {
  const { workload } = outcome;
  if (!mayHaveStuckPods(workload, options)) return outcome;
  if (mustNotWrite(options)) return { type: "stopped" };
  try {
    const failure = await replaceStuckPods(workload, { ...options, takePermit });
    return failure === undefined ? outcome : { ...failure, workload };
  } catch (error) {
    if (options.leadership.abort.aborted) return { type: "stopped" };
    throw error;
  }
}

async function reconcileWorkload(run: ReconcileRun, options: ReconcileOptions): Promise<ReconcileOutcome> {
  const { key, findings, takePermit } = run;
  const { caches, clock, views } = options;
  const cached = caches.workload(key);
  if (cached === undefined) return outcomeWithoutCache(findings, options);
  let workload = takeNewest(findings, cached, clock.monotonic());
  const { write, unusable } = await updateRejections(findings, workload, { ...options, takePermit });
  if (unusable.length > 0) findings.unrestored = { uid: workload.uid, pinned: workload.pinned, names: unusable };
  switch (write?.type) {
    case "written":
      rememberNewest(findings, cached, write.after, clock.monotonic());
      workload = write.after;
      break;
    case "stale":
      return { type: "conflict", workload: write.newest };
    case "unavailable":
    case "refused":
      return { ...write, workload };
    case "gone":
    case "stopped":
    case "permitPending":
      return write;
  }
  findings.pins = seenPins(workload, findings.pins);
  findings.annotations = seenAnnotations(findings.annotations, workload);
  const planWith = (of: Workload, lookup: Lookup) => planNow(run, of, lookup, options);
  const planCached = (of: Workload): RolloutPlan => {
    const plan = planWith(of, caches.lookup);
    rememberCaughtUp(findings, of, plan);
    return plan;
  };
  for (let attempt = 0; attempt < triesAtOnce; attempt++) {
    let plan = planCached(workload);
    if (mayBeProven(plan, workload, findings, clock)) {
      const failure = await listPods(findings, workload, options);
      if (failure !== undefined) return failure;
      plan = planCached(workload);
    }
    if (attempt === 0 && (await findMixedPods(workload, plan, findings, run.memory.unpinned, options)))
      plan = planCached(workload);
    let lookup = caches.lookup;
    const isFresh = areCachesFresh(findings, workload, plan, caches.syncedUpTo);
    let cachesNeedWrite = isDue(plan);
    const isUnverified = needsVerificationFirst(findings, workload, plan);
    if (!cachesNeedWrite && !isUnverified) {
      const unlisted = await readUnlisted(findings, workload, plan, options);
      if (unlisted === "none") return outcomeWithoutWrite(key, findings, workload, plan, views);
      if (unlisted !== "allExist") return unlisted;
    }
    if (mustNotWrite(options)) return { type: "stopped" };
    // A permit is for one write, however many tries the write needs.
    if (attempt === 0 && !takePermit()) return { type: "permitPending" };
    if (!isFresh) {
      const live = await planLive(workload, plan, findings, planWith, options);
      if (live.type !== "planned") return live;
      if (hasOtherTemplate(findings.pins, live.workload)) {
        rememberNewest(findings, cached, live.workload, clock.monotonic());
        return { type: "conflict", workload: live.workload };
      }
      ({ workload, plan, lookup } = live);
      // Others may have shown an earlier change of the object, but not this one. It has a canary of its own when the caches have it.
      if (plan.outcome !== "held" && run.isBatchBehind()) return { type: "conflict", workload };
      if (isUnverified) cachesNeedWrite = isDue(planCached(workload));
    }
    if (!isDue(plan)) {
      run.returnPermit();
      const outcome = outcomeWithoutWrite(key, findings, workload, plan, views);
      return cachesNeedWrite ? { ...outcome, cachesBehind: true } : outcome;
    }
    if (mustNotWrite(options)) return { type: "stopped" };
    const pins = isRollAgain(plan) ? noPins : await storePins(workload, plan, lookup, options);
    if (pins.type === "stale") return { type: "conflict", workload };
    if (pins.type === "unavailable") return { ...pins, workload };
    if (pins.type === "stopped" || mustNotWrite(options)) return { type: "stopped" };
    plan = withUnpinnedWarning(plan, pins.unpinned);
    if (pins.pins.pinned !== undefined) findings.writtenPins = pins.pins.pinned;
    const patch = patchFor(workload, plan, clock.wall(), pins.pins) ?? [];
    const soakMs = options.policy.pacing?.soakMs ?? 0;
    const hasPassed =
      !["restarts", "exited"].includes(`${options.newPods(workload)?.state}`) &&
      hasBeenComplete(findings, workload, soakMs, clock.monotonic());
    const result = await applyPlan(workload, plan, patch, options);
    switch (result.type) {
      case "written": {
        const { after } = result;
        const hasHash = after.recordedHash !== undefined || !("hash" in plan) || isRollAgain(plan);
        if (!hasHash && changesTemplate(workload.row, patch)) return hashRemovedOnWrite(after);
        rememberNewest(findings, cached, after, clock.monotonic());
        findings.pins = seenPins(after);
        if (isRollAgain(plan)) rememberRolledAgain(findings);
        if (plan.outcome === "recorded" && plan.cause === "proven") rememberProven(findings, after);
        findings.lastWrite = lastWriteAfter(findings, workload, plan, hasPassed, clock.monotonic());
        // A plan from the caches shows that they have what was written.
        if (lookup === caches.lookup || matches(after, caches.lookup, options)) rememberOwnWrite(findings, after);
        return writtenOutcome(key, findings, workload, plan, views);
      }
      case "stale":
        rememberNewest(findings, cached, result.newest, clock.monotonic());
        if (hasOtherTemplate(findings.pins, result.newest)) return { type: "conflict", workload: result.newest };
        workload = result.newest;
        findings.pins = seenPins(workload, findings.pins);
        break;
      case "unavailable":
        if (result.uncertain && !isRollAgain(plan))
          rememberUncertainWrite(findings, workload, plan, hasPassed, clock.monotonic());
        return { ...result, workload };
      case "refused":
        return { ...result, workload };
      case "gone":
      case "stopped":
        return result;
    }
  }
  return { type: "conflict", workload };
}

/** The minimum time between two lists of the Pods of a workload that is held, in milliseconds, if the workload has not changed. */
const heldListsMs = 60_000;

/**
 * Reports whether a list of the Pods may show that they read what is live. All Pods of a held workload may have been replaced: then it is due no
 * longer. A hold that only waits ends soon.
 */
function mayBeProven(
  plan: RolloutPlan,
  { uid, resourceVersion, progress }: Workload,
  { pods }: Pick<Findings, "pods">,
  clock: Pick<Clock, "monotonic">,
): boolean {
  const due = plan.outcome === "held" ? plan.due : plan;
  if (!("unlisted" in due) || due.unlisted !== true) return false;
  if (plan.outcome !== "held") return true;
  const isListed = pods?.uid === uid && pods.resourceVersion === resourceVersion;
  const isRecent = isListed && clock.monotonic() - pods.at < heldListsMs;
  return !holdRows[plan.hold.reason].isShort && progress.state !== "progressing" && !isRecent;
}

/** Lists the Pods of a workload. Returns how the run ends if that is not possible now. */
async function listPods(
  findings: Writable<Findings>,
  workload: Workload,
  { pods, clock, leadership }: ReconcileOptions,
): Promise<ReconcileOutcome | undefined> {
  try {
    const listed = await pods.of(workload);
    const { uid, resourceVersion } = workload;
    findings.pods = { uid, resourceVersion, at: clock.monotonic(), listed };
    return undefined;
  } catch (error) {
    if (leadership.abort.aborted) return { type: "stopped" };
    return { ...readFailure(error, workload), workload };
  }
}

/** Returns the decision at this moment. */
function planNow(
  { key, memory, findings, batchHold }: ReconcileRun,
  workload: Workload,
  lookup: Lookup,
  { caches: { absentSince }, clock, policy, views, newPods, alerts }: ReconcileOptions,
): RolloutPlan {
  const monotonic = clock.monotonic();
  rememberProgress(findings, workload, monotonic);
  const mixed = mixedPodsOf(findings, workload);
  const ofGate = { newPods: newPods(workload), alerts: alerts?.(workload.namespace), absentSince };
  const now = () => ({ ...momentOf(memory, findings, workload, clock, mixed), ...ofGate });
  if (ofGate.alerts?.state === "firing") rememberFailedAlert(findings, workload, policy.pacing ?? unpaced, now());
  const moment = now();
  const plan = decide({
    workload,
    lookup,
    policy: policyFor(workload, policy),
    previous: views.of(key),
    moment,
    batchHold: (_, changed) => batchHold(changed, lookup),
  });
  findings.checkAtMonotonic = plan.checkAt && monotonic + plan.checkAt - clock.wall();
  return plan;
}

/** Reports whether the caches have what a workload was just written with. */
function matches(after: Workload, lookup: Lookup, { policy }: Pick<ReconcileOptions, "policy">): boolean {
  return planRollout(after, lookup, policyFor(after, policy)).outcome === "current";
}

function withUnpinnedWarning(plan: RolloutPlan, message: string | undefined): RolloutPlan {
  return message === undefined ? plan : { ...plan, warnings: [...plan.warnings, { reason: "Unpinned", message }] };
}

/** Reports whether the hash that another controller recorded must be verified before anything else. */
function needsVerificationFirst({ legacy }: Findings, workload: Workload, plan: RolloutPlan): boolean {
  const due = plan.outcome === "held" ? plan.due : plan;
  return due.outcome === "firstHash" && needsLegacyVerification(workload) && !isVerified(workload, legacy);
}

/**
 * The API server accepted the write and removed the hash: it prunes fields that a CustomResourceDefinition does not have
 * (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning).
 */
function hashRemovedOnWrite(workload: Workload): ReconcileOutcome {
  const { row } = workload;
  const field = `${fieldOfKind(row, "spec.template")}.metadata.annotations`;
  return { type: "refused", workload, message: refusedTexts.hashRemovedOnWrite(resourceName(row), field) };
}

/** Checked right before each write, and before work that only a write needs. */
function mustNotWrite({ leadership }: ReconcileOptions): boolean {
  return leadership.abort.aborted || !leadership.valid();
}
