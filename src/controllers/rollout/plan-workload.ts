// Decides what is to be written for a workload: by `decide`, from the caches and from what the leader remembers.

import type { PodLists } from "../../cache/live/listed-pods.ts";
import { isVerified, needsLegacyVerification } from "../../domain/config/legacy-hash.ts";
import type { Lookup } from "../../domain/config/view-of-references.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import type { RolloutPlan } from "../../domain/outcomes/outcomes.ts";
import { holdRows } from "../../domain/pacing/holds.ts";
import type { ListedPods, Moment, NamespaceAlerts } from "../../domain/pacing/moment.ts";
import { decide } from "../../domain/plan/decide.ts";
import type { NewPods } from "../../domain/pods/new-pods.ts";
import { rulesFor } from "../../domain/policy/rules.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import type { LeaderParts } from "../leader-context.ts";
import type { BatchRun } from "./batches/batch-queue.ts";
import { rememberCaughtUp } from "./freshness/caught-up.ts";
import { type LivePlanOptions, type Planned, readFailure } from "./freshness/live-plan.ts";
import { checkBy } from "./memory/finish.ts";
import type { ReconcileOutcome } from "./memory/outcome.ts";
import { knownFailedAlert, rememberFailedAlert, rememberProgress } from "./memory/pacing-memory.ts";
import type { RememberedViews } from "./memory/remembered-views.ts";
import type { Findings, WorkloadMemory, Writable } from "./memory/workload-memory.ts";
import { findMixedPods, type MixedPodsOptions } from "./mixed-pods/mixed-pods.ts";

/** What the runs of all workloads need. */
export interface ReconcileOptions
  extends LivePlanOptions,
    Pick<MixedPodsOptions, "reading">,
    LeaderParts<"log", "absentSince" | "lookup" | "syncedUpTo" | "workload" | "kinds" | "copiesIn"> {
  readonly client: Pick<ApiClient, "request" | "stream">;
  /**
   * Whether Wave's webhooks are on. Then a rejection is written in the request itself, if the API server asks in time. Wave also replaces Pods
   * that stay pending after their scheduling hold was removed.
   */
  readonly webhooks: boolean;
  readonly views: RememberedViews;
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
  /** Undefined if batches are off. */
  readonly batch: BatchRun | undefined;
}

/** Reports whether this process must not write now. It checks this right before each write, and before work that only a write needs. */
export function mustNotWrite({ leadership }: Pick<ReconcileOptions, "leadership">): boolean {
  return leadership.abort.aborted || !leadership.valid();
}

/**
 * Plans a workload from the caches. Reads its Pods if they may change the plan: `mayBeMixed`, if they may run another configuration than that of the
 * recorded hash. Returns how the run ends if Wave cannot list the Pods now.
 */
export async function planFromCaches(
  run: ReconcileRun,
  workload: Workload,
  mayBeMixed: boolean,
  options: ReconcileOptions,
): Promise<Planned | ReconcileOutcome> {
  const { findings, memory } = run;
  let plan = planCached(run, workload, options);
  const upTo = unlistedUpTo(plan, workload, findings, options.clock);
  if (upTo !== undefined) {
    const failure = await listPods(findings, workload, upTo, options);
    if (failure === undefined) plan = planCached(run, workload, options);
    else if (failure.type === "stopped" || plan.outcome !== "held") return failure;
    // Nothing is written, and people see why.
    else checkBy(findings, options.clock.monotonic() + heldListsMs);
  }
  if (mayBeMixed && (await findMixedPods(workload, plan, findings, memory.unpinned, options)))
    plan = planCached(run, workload, options);
  return { type: "planned", workload, plan, lookup: options.caches.lookup };
}

/** Returns the decision from the caches alone, and remembers whether it shows that they have what is recorded. */
export function planCached(run: ReconcileRun, workload: Workload, options: ReconcileOptions): RolloutPlan {
  const plan = planNow(run, workload, options.caches.lookup, options);
  rememberCaughtUp(run.findings, workload, plan);
  return plan;
}

/** Returns the decision at this moment. */
export function planNow(
  { key, memory, findings, batch }: ReconcileRun,
  workload: Workload,
  lookup: Lookup,
  options: ReconcileOptions,
): RolloutPlan {
  const { clock, policy, views } = options;
  rememberProgress(findings, workload, clock.monotonic());
  const seen = momentOf(memory, findings, workload, options);
  if (seen.alerts?.state === "firing") rememberFailedAlert(findings, workload, policy.pacing, seen);
  const moment = { ...seen, failedAlert: knownFailedAlert(findings, workload) };
  const plan = decide({
    workload,
    lookup,
    rules: rulesFor(workload, policy),
    previous: views.of(key),
    moment,
    batchHold: (_, changed) => batch?.holdOf(changed, lookup),
  });
  findings.checkAtMonotonic = plan.checkAt && clock.monotonic() + plan.checkAt - clock.wall();
  return plan;
}

/** How long a list of Pods shows which ones there are, in milliseconds: other Pods may have replaced them since. */
const podsValidMs = 15_000;

/** Returns what the leader knows of a workload now, with all times in milliseconds since the epoch. */
export function momentOf(
  { changes, heldBy }: Pick<WorkloadMemory, "changes" | "heldBy">,
  findings: Findings,
  workload: Workload,
  { clock, caches: { absentSince }, newPods, alerts }: ReconcileOptions,
): Moment {
  const { lastWrite, progress, legacy, annotations, unrestored, pods, mixed } = findings;
  const { uid, resourceVersion, recordedHash } = workload;
  const now = clock.wall();
  const monotonic = clock.monotonic();
  // Memories have no wall-clock times: a clock that is set back would hold everything for as long.
  const onWall = (at: number) => now - (monotonic - at);
  return {
    now,
    changes: changes && { first: onWall(changes.first), last: onWall(changes.last) },
    lastWrite: lastWrite?.uid === uid ? { ...lastWrite, at: onWall(lastWrite.at) } : undefined,
    progressSince: onWall(progress?.since ?? monotonic),
    advancedAt: progress && onWall(progress.advancedAt),
    completeMs: progress?.completeMs ?? 0,
    newPods: newPods(workload),
    alerts: alerts?.(workload.namespace),
    failedAlert: knownFailedAlert(findings, workload),
    pods:
      pods?.uid === uid && pods.listed !== undefined
        ? { ...pods.listed, isEarlier: pods.resourceVersion !== resourceVersion || monotonic - pods.at >= podsValidMs }
        : undefined,
    absentSince,
    mixed: mixed?.pods?.uid === uid && mixed.pods.hash === recordedHash ? mixed.pods : undefined,
    legacy,
    changedByUndo: annotations?.changedByUndo,
    unrestored,
    heldBy,
  };
}

/** Reports whether the hash that another controller recorded must be verified before anything else. */
export function needsVerificationFirst({ legacy }: Findings, workload: Workload, plan: RolloutPlan): boolean {
  const due = plan.outcome === "held" ? plan.due : plan;
  return due.outcome === "firstHash" && needsLegacyVerification(workload) && !isVerified(workload, legacy);
}

/** The minimum time between two lists of the Pods of a workload that is held, in milliseconds, if the workload has not changed. */
const heldListsMs = 60_000;

/**
 * Returns the resourceVersion of a list of the Pods that may show that they read what is live; undefined if none may now. All Pods of a held
 * workload may have been replaced: then it is due no longer. A short hold ends soon, so that its Pods are listed at most once before.
 */
function unlistedUpTo(
  plan: RolloutPlan,
  { uid, resourceVersion, progress }: Workload,
  { pods }: Pick<Findings, "pods">,
  clock: Pick<Clock, "monotonic">,
): number | undefined {
  const due = plan.outcome === "held" ? plan.due : plan;
  const upTo = "unlisted" in due ? due.unlisted : undefined;
  if (upTo === undefined || plan.outcome !== "held") return upTo;
  const last = pods?.uid === uid ? pods : undefined;
  const isRecent = last?.resourceVersion === resourceVersion && clock.monotonic() - last.at < heldListsMs;
  const { isShort, listsPods } = holdRows[plan.hold.reason];
  const mayList = isShort ? listsPods && last === undefined : !isRecent;
  return mayList && progress.state !== "progressing" ? upTo : undefined;
}

/** Lists the Pods of a workload, with this resourceVersion or a later one. Returns how the run ends if that fails and the workload is not held. */
async function listPods(
  findings: Writable<Findings>,
  workload: Workload,
  upTo: number,
  { pods, clock, leadership }: ReconcileOptions,
): Promise<ReconcileOutcome | undefined> {
  const { uid, resourceVersion, progress } = workload;
  const remember = (listed: ListedPods | undefined) => {
    findings.pods = { uid, resourceVersion, progress, at: clock.monotonic(), listed };
  };
  try {
    remember(await pods.of(workload, upTo));
    return undefined;
  } catch (error) {
    const failure = readFailure(error, workload, leadership);
    if (failure.type !== "stopped") remember(undefined);
    return failure;
  }
}
