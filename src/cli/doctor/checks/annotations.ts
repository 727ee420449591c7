import { formatCount } from "../../../domain/syntax/wording.ts";
import { configArgumentKinds } from "../../command/workload-argument.ts";
import type { UnreadResource } from "../context/annotation-scan.ts";
import type { DoctorContext } from "../context/doctor-context.ts";
import { type CheckResult, notRead } from "../context/finding.ts";
import { leftAdmission } from "./left-admission.ts";
import { strandedPods } from "./stranded-pods.ts";

/** Checks that annotations for Wave are on objects on which they have an effect, and have valid values. */
export async function checkAnnotations(doctorContext: DoctorContext): Promise<CheckResult> {
  const { mistakes, unread, count } = await doctorContext.annotationScan();
  const unknown = unread.map((each) => notRead(null, `Annotations of ${each.plural} were not checked`, each));
  return {
    found: [...mistakes, ...unknown],
    fine: `${formatCount(count)} ${count === 1 ? "object" : "objects"} checked`,
  };
}

/** Checks that nothing of a removed Wave or of earlier controllers is left that blocks or misleads. */
export async function checkLeftovers(doctorContext: DoctorContext): Promise<CheckResult> {
  const [{ leftovers, unread }, stranded, admission] = await Promise.all([
    doctorContext.annotationScan(),
    strandedPods(doctorContext),
    leftAdmission(doctorContext),
  ]);
  const unknown = unread
    .filter(mayHaveLeftovers)
    .map((each) => notRead(null, `Leftovers on ${each.plural} were not checked`, each));
  return { found: [...admission, ...stranded, ...leftovers, ...unknown], fine: "no leftovers" };
}

/** Only workloads can have leftovers, not ConfigMaps and Secrets. */
function mayHaveLeftovers({ plural }: UnreadResource): boolean {
  return configArgumentKinds.every(({ resource }) => resource.plural !== plural);
}
