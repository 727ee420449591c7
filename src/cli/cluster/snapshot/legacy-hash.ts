import { readLegacy } from "../../../cache/live/legacy-reads.ts";
import {
  legacyVerificationOf,
  needsLegacyVerification,
  withLegacyVerification,
} from "../../../domain/config/legacy/legacy-verification.ts";
import { planRollout } from "../../../domain/plan/plan.ts";
import { policyFor } from "../../../domain/policy/cluster-policy.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import { clusterPolicyOf } from "../running-wave/known-policy.ts";
import { lookupIn } from "./live-plan.ts";
import type { WorkloadSnapshot } from "./workload-snapshot.ts";

/**
 * Verifies a hash that another controller recorded, as Wave does at start: recomputes the hash from the stored objects and compares
 * both. The values of the objects are dropped at once. If an object cannot be read, the result has a gap that gives the cause.
 */
export async function withVerifiedHash(
  client: Pick<ApiClient, "request">,
  snapshot: WorkloadSnapshot,
): Promise<WorkloadSnapshot> {
  const { found, read, gaps } = snapshot;
  const { workload } = found;
  if (!needsLegacyVerification(workload)) return snapshot;
  const policy = clusterPolicyOf(snapshot.policy);
  const signal = new AbortController().signal;
  try {
    const legacy = await readLegacy(workload, { client, policy, cached: lookupIn(read), signal });
    const plan = legacy && planRollout(legacy.workload, legacy.lookup, policyFor(legacy.workload, policy));
    if (legacy === undefined || plan === undefined || !("view" in plan)) return snapshot;
    const verification = legacyVerificationOf(workload, plan.view, legacy.hash === workload.recordedHash);
    return { ...snapshot, found: { ...found, workload: withLegacyVerification(workload, verification) } };
  } catch (error) {
    return { ...snapshot, gaps: [...gaps, `The recorded hash could not be verified: ${errorText(error)}.`] };
  }
}
