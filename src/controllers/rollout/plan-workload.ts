// Decides what is to be written for a workload: by `decide`, from the caches and from what the leader remembers.
import { isVerified, needsLegacyVerification } from "../../domain/config/legacy-hash.ts";
import type { Workload } from "../../domain/model/workload.ts";
import { holdRows } from "../../domain/pacing/holds.ts";
import { decide } from "../../domain/plan/decide.ts";
import type { Lookup, RolloutPlan } from "../../domain/plan/plan.ts";
import { policyFor, unpaced } from "../../domain/policy/policy.ts";
import type { Clock } from "../../lib/clock.ts";
import { rememberCaughtUp } from "./freshness/caught-up.ts";
import type { Planned } from "./freshness/live-plan.ts";
import { readFailure } from "./freshness/live-reads.ts";
import { momentOf } from "./memory/moment.ts";
import type { ReconcileOutcome } from "./memory/outcome.ts";
import { knownFailedAlert, rememberFailedAlert, rememberProgress } from "./memory/pacing-memory.ts";
import type { Findings, Writable } from "./memory/workload-memory.ts";
import { findMixedPods } from "./mixed-pods/mixed-pods.ts";
import type { ReconcileOptions, ReconcileRun } from "./reconcile-run.ts";

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
  if (mayBeProven(plan, workload, findings, options.clock)) {
    const failure = await listPods(findings, workload, options);
    if (failure !== undefined) return failure;
    plan = planCached(run, workload, options);
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
  { key, memory, findings, batchHold }: ReconcileRun,
  workload: Workload,
  lookup: Lookup,
  options: ReconcileOptions,
): RolloutPlan {
  const { clock, policy, views } = options;
  rememberProgress(findings, workload, clock.monotonic());
  const seen = momentOf(memory, findings, workload, options);
  if (seen.alerts?.state === "firing") rememberFailedAlert(findings, workload, policy.pacing ?? unpaced, seen);
  const moment = { ...seen, failedAlert: knownFailedAlert(findings, workload) };
  const plan = decide({
    workload,
    lookup,
    policy: policyFor(workload, policy),
    previous: views.of(key),
    moment,
    batchHold: (_, changed) => batchHold(changed, lookup),
  });
  findings.checkAtMonotonic = plan.checkAt && clock.monotonic() + plan.checkAt - clock.wall();
  return plan;
}

/** Reports whether the hash that another controller recorded must be verified before anything else. */
export function needsVerificationFirst({ legacy }: Findings, workload: Workload, plan: RolloutPlan): boolean {
  const due = plan.outcome === "held" ? plan.due : plan;
  return due.outcome === "firstHash" && needsLegacyVerification(workload) && !isVerified(workload, legacy);
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
