import { ApiError, ConnectionError } from "../../kube/api/errors.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { checkAccess } from "./access.ts";
import { checkAnnotations, checkLeftovers } from "./annotations.ts";
import { checkApiVersions } from "./api-versions.ts";
import type { Check, DoctorContext } from "./doctor-context.ts";
import { type CheckResult, unchecked } from "./finding.ts";
import { checkFlags } from "./flags-check.ts";
import { checkInstallation } from "./installation.ts";
import { checkLeadership } from "./leadership.ts";
import { checkOtherControllers } from "./other-controllers-check.ts";
import { checkPermissions } from "./permissions.ts";
import { checkWebhook } from "./webhook.ts";
import { checkWorkloads } from "./workloads.ts";

/** What `wave doctor` looks at, in the order in which it tells of it. */
export const checks = {
  api: { means: "the API server is new enough, and serves what Wave needs", examine: checkApiVersions },
  access: { means: "the namespace exists, and you may read what workloads hang on", examine: checkAccess },
  wave: { means: "Wave runs, once, with all of its replicas, and as this version", examine: checkInstallation },
  flags: { means: "its flags are such as it takes, and what they name exists", examine: checkFlags },
  permissions: { means: "its account may do all that it needs with these flags", examine: checkPermissions },
  leader: { means: "one replica leads, and others stand by", examine: checkLeadership },
  webhook: { means: "the API server reaches the webhook, and trusts its certificate", examine: checkWebhook },
  workloads: { means: "none waits, failed, or is due or held for long", examine: checkWorkloads },
  annotations: { means: "what people wrote for Wave reaches it, and can be read", examine: checkAnnotations },
  others: { means: "no other controller rolls the same workloads", examine: checkOtherControllers },
  leftovers: { means: "nothing is left of early versions that is in the way", examine: checkLeftovers },
} as const satisfies Readonly<Record<string, Check>>;

/** The name of one of them. */
export type CheckName = keyof typeof checks;

/** Those that ask about each Wave that serves: without one there is nothing to ask. */
const aboutWave: readonly CheckName[] = ["flags", "permissions", "leader", "webhook"];

/** Examines everything, at once. What fails of one check is told as what could not be checked, and keeps no other. */
export async function runChecks(doctorContext: DoctorContext): Promise<readonly (readonly [CheckName, CheckResult])[]> {
  const names = Object.keys(checks) as CheckName[];
  const wanted = names.filter((name) => doctorContext.serving.length > 0 || !aboutWave.includes(name));
  return Promise.all(wanted.map(async (name) => [name, await examined(name, doctorContext)] as const));
}

async function examined(name: CheckName, doctorContext: DoctorContext): Promise<CheckResult> {
  try {
    return await checks[name].examine(doctorContext);
  } catch (error) {
    if (!isAboutTheCluster(error)) throw error;
    return { found: [unchecked(null, errorText(error))], fine: "" };
  }
}

function isAboutTheCluster(error: unknown): boolean {
  return error instanceof ApiError || error instanceof ConnectionError;
}
