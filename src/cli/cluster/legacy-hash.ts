import { readLegacy } from "../../cache/live/legacy-reads.ts";
import { verifyLegacyHash, needsLegacyVerification, withLegacyVerification } from "../../domain/config/legacy/legacy-verification.ts";
import { planRollout } from "../../domain/plan/plan.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { WorkloadSnapshot } from "./explanation.ts";
import { policyOf } from "./inherited-flags.ts";
import { lookupIn } from "./live-plan.ts";

/**
 * Finds out what a hash stands for that another controller recorded, as Wave does when it starts: by making it again from what
 * is stored, each value of which is dropped at once. Where that cannot be read a line of the gaps says why.
 */
export async function verifyLegacyHash(client: Pick<ApiClient, "request">, asked: WorkloadSnapshot): Promise<WorkloadSnapshot> {
  const { found, read, gaps } = asked;
  const { workload } = found;
  if (!needsLegacyVerification(workload)) return asked;
  const policy = policyOf(asked.policy);
  const signal = new AbortController().signal;
  try {
    const legacy = await readLegacy(workload, { client, policy, cached: lookupIn(read), signal });
    const plan = legacy && planRollout(legacy.workload, legacy.lookup, policy);
    if (legacy === undefined || plan === undefined || !("view" in plan)) return asked;
    const finding = verifyLegacyHash(workload, plan.view, legacy.hash === workload.recordedHash);
    return { ...asked, found: { ...found, workload: withLegacyVerification(workload, finding) } };
  } catch (error) {
    return { ...asked, gaps: [...gaps, `${untold}: ${errorText(error)}`] };
  }
}

const untold = "it cannot be told what its hash was made from";
