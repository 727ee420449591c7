import type { Caches } from "../../cache/caches.ts";
import { isTold, needsLegacyVerification, withFinding } from "../../domain/config/legacy/legacy-verification.ts";
import { changesTemplate, fieldOfKind, resourceName } from "../../domain/model/kind-row.ts";
import { MalformedWorkload, type Workload } from "../../domain/model/workload.ts";
import type { Moment } from "../../domain/pacing/moment.ts";
import { patchFor } from "../../domain/patch/workload-patch.ts";
import { planRollout, type RolloutPlan } from "../../domain/plan/plan.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import { carryOut } from "./apply/apply.ts";
import { isWatched, noteCaughtUp, noteWritten, perhapsLeftOut } from "./freshness/caught-up.ts";
import { type LivePlanOptions, planLive } from "./freshness/live-plan.ts";
import { readFailure } from "./freshness/live-reads.ts";
import { leftCaches, noteUncertain, settled, written } from "./freshness/uncertain-write.ts";
import type { Outcome } from "./record/outcome.ts";
import { afterRoll, momentOf, noteProgress } from "./record/pacing-record.ts";
import type { RememberedViews } from "./record/remembered-views.ts";
import { learn, newestOf, type WorkloadRecord } from "./record/workload-record.ts";

/** What {@link reconcile} works with. */
export interface ReconcileOptions extends LivePlanOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly caches: Pick<Caches, "lookup" | "heardUpTo" | "workload">;
  readonly clock: Clock;
  readonly views: Pick<RememberedViews, "remember">;
}

/** One run: the workload's key, what is remembered of it, and its turn to write. */
export interface Run {
  readonly key: string;
  readonly record: WorkloadRecord;
  /** Takes a turn for one write; false where there is none. */
  readonly takeTurn: () => boolean;
  /** Gives back a turn that was taken: there is nothing to write after all. */
  readonly giveBackTurn: () => void;
  /** Whether it may go before others that the same changes concern; undefined where waves are off. */
  readonly batch: Moment["batch"];
}

/** How often a workload that changed meanwhile is read and planned again at once, before it has to wait. */
const triesAtOnce = 3;

/**
 * Brings one workload to what its plan says, with at most one write. It decides nothing: `planRollout` does, from the
 * caches, or from what is stored at this moment where these may be behind. A key must never be reconciled twice at once.
 * Rejects only for a bug.
 */
export async function reconcile(run: Run, options: ReconcileOptions): Promise<Outcome> {
  try {
    return await reconcileWorkload(run, options);
  } catch (error) {
    // What is stored is no workload any more; that it is one again is a change.
    if (error instanceof MalformedWorkload) return { type: "gone" };
    throw error;
  }
}

async function reconcileWorkload(run: Run, options: ReconcileOptions): Promise<Outcome> {
  const { key, record, takeTurn, giveBackTurn, batch } = run;
  const { caches, policy, clock, views } = options;
  const cached = caches.workload(key);
  if (cached === undefined) return leftCaches(record, options);
  let workload = newestOf(record, cached, clock.monotonic());
  const moment = (of: Workload) => {
    noteProgress(record, of, clock.monotonic());
    return momentOf(record, of, clock, batch);
  };
  const planCached = (of: Workload): RolloutPlan => {
    const plan = planRollout(withFinding(of, record.legacy), caches.lookup, policy, record.view, moment(of));
    noteCaughtUp(record, of, plan);
    return plan;
  };
  for (let attempt = 0; attempt < triesAtOnce; attempt++) {
    let plan = planCached(workload);
    const watched = isWatched(record, workload, plan, caches.heardUpTo);
    let cachesAsk = patchFor(workload, plan) !== undefined;
    const untold = isUntoldOf(record, workload, plan);
    if (!cachesAsk && !untold) {
      const leftOut = await isLeftOut(record, workload, plan, options);
      if (leftOut !== true) return leftOut === false ? settled(record, workload, plan, views) : leftOut;
    }
    if (mustNotWrite(options)) return { type: "stopped" };
    // A turn is good for one write, however many tries that takes.
    if (attempt === 0 && !takeTurn()) return { type: "paced" };
    if (!watched) {
      const live = await planLive(workload, plan, record, moment, options);
      if (live.type !== "planned") return live;
      ({ workload, plan } = live);
      if (untold) cachesAsk = patchFor(workload, planCached(workload)) !== undefined;
    }
    const patch = patchFor(workload, plan, clock.wall());
    if (patch === undefined) {
      giveBackTurn();
      const outcome = settled(record, workload, plan, views);
      return cachesAsk ? { ...outcome, ahead: true } : outcome;
    }
    if (mustNotWrite(options)) return { type: "stopped" };
    const result = await carryOut(workload, plan, patch, options);
    switch (result.type) {
      case "written": {
        const { after } = result;
        const hasHash = after.recordedHash !== undefined || !("hash" in plan);
        if (!hasHash && changesTemplate(workload.row, patch)) return notKept(after);
        learn(record, cached, after, clock.monotonic());
        record.written = afterRoll(record, workload, plan, clock.monotonic());
        if (watched) noteWritten(record, after);
        else noteCaughtUp(record, after, planRollout(after, caches.lookup, policy));
        return written(record, workload, plan, views);
      }
      case "stale":
        learn(record, cached, result.newest, clock.monotonic());
        workload = result.newest;
        break;
      case "unavailable":
        if (result.uncertain) noteUncertain(record, workload, plan, clock.monotonic());
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

/** Whether it is to be found out before anything else what the hash stands for that another controller recorded. */
function isUntoldOf({ legacy }: WorkloadRecord, workload: Workload, plan: RolloutPlan): boolean {
  const due = plan.outcome === "held" ? plan.due : plan;
  return due.outcome === "firstHash" && needsLegacyVerification(workload) && !isTold(workload, legacy);
}

/**
 * The API server answered that it wrote, and dropped the hash: fields that a definition does not have are pruned
 * (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning).
 */
function notKept(workload: Workload): Outcome {
  const { row } = workload;
  const place = `${fieldOfKind(row, "spec.template")}.metadata.annotations`;
  const message = `the API server dropped the hash of its configuration as it wrote it: let the schema of ${resourceName(row)} have ${place}, or keep webhooks from taking it off`;
  return { type: "refused", workload, message };
}

/** Asked right before each write, and before what only a write needs. */
function mustNotWrite({ leadership }: ReconcileOptions): boolean {
  return leadership.abort.aborted || !leadership.valid();
}

/** Whether all that a workload waits for exists, and was only left out of the lists; or how the run ends. */
async function isLeftOut(
  record: WorkloadRecord,
  workload: Workload,
  plan: RolloutPlan,
  { caches, clock, live, leadership }: ReconcileOptions,
): Promise<boolean | Outcome> {
  const objects = perhapsLeftOut(record, workload, plan, caches.lookup, clock.monotonic());
  if (objects.length === 0) return false;
  try {
    const exist = await live.exist(objects);
    if (exist) record.lookedFor = undefined;
    return exist;
  } catch (error) {
    record.lookedFor = undefined;
    if (leadership.abort.aborted) return { type: "stopped" };
    return { ...readFailure(error, workload), workload };
  }
}
