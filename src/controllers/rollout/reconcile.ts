// Brings one workload to its plan: decides, and acts.
import { MalformedWorkload, type Workload } from "../../domain/model/workload.ts";
import { isDue } from "../../domain/outcomes/outcomes.ts";
import { followUp } from "./follow-up.ts";
import { areCachesFresh } from "./freshness/caught-up.ts";
import { type Planned, planLive } from "./freshness/live-plan.ts";
import { outcomeWithoutCache, outcomeWithoutWrite } from "./freshness/uncertain-write.ts";
import { readUnlisted } from "./freshness/unlisted-secrets.ts";
import { rememberNewest, takeNewest } from "./memory/newest-workload.ts";
import type { ReconcileOutcome } from "./memory/outcome.ts";
import { seenAnnotations } from "./memory/seen-annotations.ts";
import { hasOtherTemplate, seenPins } from "./memory/seen-pins.ts";
import { needsVerificationFirst, planCached, planFromCaches, planNow } from "./plan-workload.ts";
import { mustNotWrite, type ReconcileOptions, type ReconcileRun } from "./reconcile-run.ts";
import { updateRejections } from "./update-rejections.ts";
import { writePlan } from "./write-plan.ts";

/** How many times a workload that changed during the run is read and planned again at once. */
const triesAtOnce = 3;

/**
 * Brings one workload to its plan, with at most one write of the plan. Notes on the workload, and Pods that keep it from its return, are further
 * writes. The decision is made by `decide`: from the caches, or from
 * live reads if the caches may be behind. A key must never be reconciled twice at once. Rejects only for a bug.
 */
export async function reconcile(run: ReconcileRun, options: ReconcileOptions): Promise<ReconcileOutcome> {
  try {
    return await followUp(await planAndWrite(run, options), run, options);
  } catch (error) {
    // The stored object is not a valid workload any more. If it becomes valid again, that is a change.
    if (error instanceof MalformedWorkload) return { type: "gone" };
    throw error;
  }
}

async function planAndWrite(run: ReconcileRun, options: ReconcileOptions): Promise<ReconcileOutcome> {
  const cached = options.caches.workload(run.key);
  if (cached === undefined) return outcomeWithoutCache(run.findings, options);
  const newest = await newestKnown(run, cached, options);
  if (newest.type !== "newest") return newest;
  let { workload } = newest;
  for (let attempt = 0; attempt < triesAtOnce; attempt++) {
    const planned = await planFromCaches(run, workload, attempt === 0, options);
    if (planned.type !== "planned") return planned;
    const due = await planBeforeWrite(run, cached, planned, attempt === 0, options);
    if (due.type !== "planned") return due;
    const outcome = await writePlan(run, cached, due, options);
    if (outcome.type !== "stale") return outcome;
    workload = outcome.workload;
  }
  return { type: "conflict", workload };
}

/** Returns the newest known state of a workload, after its rejections are written. Returns how the run ends if that is not possible now. */
async function newestKnown(
  { findings, takePermit }: ReconcileRun,
  cached: Workload,
  options: ReconcileOptions,
): Promise<{ readonly type: "newest"; readonly workload: Workload } | ReconcileOutcome> {
  const { clock } = options;
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
  return { type: "newest", workload };
}

/**
 * Returns the plan that is to be written, from live reads if the caches may be behind, and takes a permit for it. `isFirst`: a permit is for one
 * write, however many tries the write needs. Returns how the run ends if there is nothing to write, or if Wave cannot write now.
 */
async function planBeforeWrite(
  run: ReconcileRun,
  cached: Workload,
  planned: Planned,
  isFirst: boolean,
  options: ReconcileOptions,
): Promise<Planned | ReconcileOutcome> {
  const { key, findings } = run;
  const { caches, clock, views } = options;
  const { workload, plan } = planned;
  const isFresh = areCachesFresh(findings, workload, plan, caches.syncedUpTo);
  let cachesNeedWrite = isDue(plan);
  const isUnverified = needsVerificationFirst(findings, workload, plan);
  if (!cachesNeedWrite && !isUnverified) {
    const unlisted = await readUnlisted(findings, workload, plan, options);
    if (unlisted === "none") return outcomeWithoutWrite(key, findings, workload, plan, views);
    if (unlisted !== "allExist") return unlisted;
  }
  if (mustNotWrite(options)) return { type: "stopped" };
  if (isFirst && !run.takePermit()) return { type: "permitPending" };
  if (isFresh) return planned;
  const live = await planLive(workload, plan, findings, (of, lookup) => planNow(run, of, lookup, options), options);
  if (live.type !== "planned") return live;
  if (hasOtherTemplate(findings.pins, live.workload)) {
    rememberNewest(findings, cached, live.workload, clock.monotonic());
    return { type: "conflict", workload: live.workload };
  }
  // Others may have shown an earlier change of the object, but not this one. It has a canary of its own when the caches have it.
  if (live.plan.outcome !== "held" && run.isBatchBehind()) return { type: "conflict", workload: live.workload };
  if (isUnverified) cachesNeedWrite = isDue(planCached(run, live.workload, options));
  if (isDue(live.plan)) return live;
  run.returnPermit();
  const outcome = outcomeWithoutWrite(key, findings, live.workload, live.plan, views);
  return cachesNeedWrite ? { ...outcome, cachesBehind: true } : outcome;
}
