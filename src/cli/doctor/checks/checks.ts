// The checks of `wave doctor`: each reads the cluster and returns findings. They may know context/ and cluster/, and not each other's results.
import { isClusterFailure } from "../../../kube/api/api-failure.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import { sentences } from "../../output/sentences.ts";
import type { Check, DoctorContext } from "../context/doctor-context.ts";
import { type CheckResult, unchecked } from "../context/finding.ts";
import { checkAnnotations, checkLeftovers } from "./annotations.ts";
import { checkAccess, checkApiVersions } from "./api-server.ts";
import { checkFlags } from "./flags.ts";
import { checkInstallation } from "./installation.ts";
import { checkLeadership } from "./leadership.ts";
import { checkOtherControllers } from "./other-controllers.ts";
import { checkPermissions } from "./permissions.ts";
import { checkPinning } from "./pinning.ts";
import { checkReceivers } from "./receivers.ts";
import { checkWebhook } from "./webhook.ts";
import { checkWorkloads } from "./workloads.ts";

/** The checks of `wave doctor`, in the order of the output. */
export const checks = {
  api: { means: "The API server is recent enough and serves the APIs that Wave needs.", run: checkApiVersions },
  access: { means: "The namespace exists, and you may read what Wave's decisions depend on.", run: checkAccess },
  wave: { means: "One Wave runs, in this version and one image, and all replicas are ready.", run: checkInstallation },
  flags: { means: "The flags of Wave are valid, and the objects that they name exist.", run: checkFlags },
  permissions: { means: "The ServiceAccount of Wave has every permission that its flags need.", run: checkPermissions },
  leader: { means: "One replica is the leader, and at least one other is on standby.", run: checkLeadership },
  webhook: { means: "The API server reaches the webhook and trusts its certificate.", run: checkWebhook },
  receivers: { means: "The receivers of --notify accept messages.", run: checkReceivers },
  pinning: {
    means: "New Pods are pointed at their pinned copies, copies are protected, and no unused copies remain.",
    run: checkPinning,
  },
  workloads: {
    means:
      "No workload waits, failed, or has been due or held for too long. No immutable object was deleted and created again.",
    run: checkWorkloads,
  },
  annotations: {
    means: "Annotations for Wave are in a place where they have an effect, and are valid.",
    run: checkAnnotations,
  },
  others: { means: "No other controller rolls the same workloads.", run: checkOtherControllers },
  leftovers: { means: "No leftovers of Wave or earlier versions block anything.", run: checkLeftovers },
} as const satisfies Readonly<Record<string, Check>>;

/** The name of a check in the output of `wave doctor`. */
export type CheckName = keyof typeof checks;

/** The checks of each running Wave, which are skipped if no Wave runs. */
const aboutWave: readonly CheckName[] = ["flags", "permissions", "leader", "webhook", "receivers"];

/** Runs all checks at once. If the cluster rejects the requests of one check, that check is unchecked, and the others still run. */
export async function runChecks(doctorContext: DoctorContext): Promise<readonly (readonly [CheckName, CheckResult])[]> {
  const names = Object.keys(checks) as CheckName[];
  const wanted = names.filter((name) => doctorContext.watching.length > 0 || !aboutWave.includes(name));
  return Promise.all(wanted.map(async (name) => [name, await runCheck(name, doctorContext)] as const));
}

async function runCheck(name: CheckName, doctorContext: DoctorContext): Promise<CheckResult> {
  try {
    return await checks[name].run(doctorContext);
  } catch (error) {
    if (!isClusterFailure(error)) throw error;
    return { found: [unchecked(null, sentences(`Not checked: ${errorText(error)}`))] };
  }
}
