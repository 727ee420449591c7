import type { LegacyRead } from "../../../cache/live/legacy-reads.ts";
import { isVerified, legacyVerificationOf, needsLegacyVerification } from "../../../domain/config/legacy-hash.ts";
import { withoutReferences } from "../../../domain/model/cached-workload.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import type { RecordedCause } from "../../../domain/outcomes/outcomes.ts";
import { type Lookup, planRollout, type RolloutPlan } from "../../../domain/plan/plan.ts";
import { type ClusterPolicy, policyFor } from "../../../domain/policy/policy.ts";
import type { Leadership } from "../../../runtime/write-permits.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import type { ReconcileOutcome } from "../memory/outcome.ts";
import type { Findings, Writable } from "../memory/workload-memory.ts";
import { type LiveReads, readFailure } from "./live-reads.ts";

/** What {@link planLive} needs. */
export interface LivePlanOptions {
  readonly live: LiveReads;
  readonly policy: ClusterPolicy;
  /** Reads the hash keys that other replicas have made. Rejects if they cannot be read. Undefined without hash keys. */
  readonly readHashKeys?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly leadership: Leadership;
}

/** A plan, and the workload that it is for. */
export interface Planned {
  readonly type: "planned";
  readonly workload: Workload;
  readonly plan: RolloutPlan;
  /** Finds what the plan was made from. */
  readonly lookup: Lookup;
}

/** How a run ends that could not be planned. */
type Unplanned = Extract<ReconcileOutcome, { readonly type: "gone" | "refused" | "unavailable" | "stopped" }>;

/** Plans a workload from live reads by `planWith`. `cached` is its plan from the caches, which may be behind. */
export async function planLive(
  workload: Workload,
  cached: RolloutPlan,
  findings: Writable<Findings>,
  planWith: (workload: Workload, lookup: Lookup) => RolloutPlan,
  { live, policy, readHashKeys, leadership }: LivePlanOptions,
): Promise<Planned | Unplanned> {
  try {
    const isKnown = isVerified(workload, findings.legacy) && findings.legacy.isCurrent;
    const legacy =
      needsLegacyVerification(workload) && !isKnown
        ? await verifyLegacyHash(workload, findings, { live, policy })
        : undefined;
    if (legacy === "gone") return { type: "gone" };
    // Patches of other plans test what the plan was made from. For some kinds, opting in again raises no generation.
    const read = cached.outcome === "cleanUp" ? await live.workload(workload) : (legacy?.workload ?? workload);
    // If its namespace exceeds a limit, the caches track no references of this workload, so it is not planned by them.
    const newest =
      read && workload.limitExceeded?.limit === "namespace" ? withoutReferences(read, workload.limitExceeded) : read;
    if (newest === undefined) return { type: "gone" };
    const lookup = legacy?.lookup ?? (await (isFirst(newest, cached) ? live.firstLookup(newest) : live.lookup(newest)));
    const plan = planWith(newest, lookup);
    if (plan.outcome !== "recorded" || isWithoutKeys(plan.cause) || readHashKeys === undefined) {
      return { type: "planned", workload: newest, plan, lookup };
    }
    // The hash may have a key that another replica has just made.
    const failure = await readHashKeys(leadership.abort).catch(errorText);
    if (failure !== undefined) return { type: "unavailable", workload, message: failure, retryAfterMs: 0 };
    return { type: "planned", workload: newest, plan: planWith(newest, lookup), lookup };
  } catch (error) {
    if (leadership.abort.aborted) return { type: "stopped" };
    return { ...readFailure(error, workload), workload };
  }
}

/** Reports whether a configuration is recorded for a reason that no hash key changes. */
function isWithoutKeys(cause: RecordedCause): boolean {
  return cause === "firstSight" || cause === "proven";
}

/** Reports whether a plan records the first hash of a workload, so that there is no newer hash that a write could revert. */
function isFirst({ recordedHash, recordedConfig }: Workload, plan: RolloutPlan): boolean {
  if (plan.outcome === "firstHash") return true;
  if (plan.outcome !== "recorded") return false;
  return plan.cause === "firstSight" || (recordedHash === undefined && recordedConfig === undefined);
}

/** Verifies whether the hash that another controller recorded matches the current configuration, and stores the result. */
async function verifyLegacyHash(
  workload: Workload,
  findings: Writable<Findings>,
  { live, policy }: Pick<LivePlanOptions, "live" | "policy">,
): Promise<LegacyRead | "gone"> {
  const read = await live.legacy(workload);
  if (read === undefined) return "gone";
  const plan = planRollout(read.workload, read.lookup, policyFor(read.workload, policy));
  if ("view" in plan) {
    findings.legacy = legacyVerificationOf(read.workload, plan.view, read.hash === read.workload.recordedHash);
  }
  return read;
}
