import { formatCount } from "../../../domain/syntax/names.ts";
import { type OtherController, otherControllers } from "../../cluster/running-wave/other-controllers.ts";
import type { AnnotationScan } from "../context/annotation-scan.ts";
import { type DoctorContext, replaces } from "../context/doctor-context.ts";
import {
  type CheckResult,
  type Finding,
  kubectlArguments,
  notRead,
  type ObjectRef,
  problem,
  warning,
} from "../context/finding.ts";

/** Checks that no other controller rolls the same workloads. Otherwise a workload could roll twice for one change. */
export async function checkOtherControllers(doctorContext: DoctorContext): Promise<CheckResult> {
  const { cluster, waves } = doctorContext;
  const controllers = await otherControllers(cluster.client, waves);
  if ("unread" in controllers) return { found: [notRead(null, "Other controllers were not checked", controllers)] };
  const { otherControllers: annotated } = await doctorContext.annotationScan;
  const running = controllers.read.filter(({ replicas }) => replicas > 0);
  return {
    found: running.flatMap((controller) => findingsAbout(controller, doctorContext, annotated)),
    fine: "no other controller rolls what Wave rolls",
  };
}

function findingsAbout(
  { controller, compatibility, namespace, name }: OtherController,
  { policy, watching }: DoctorContext,
  annotated: AnnotationScan["otherControllers"],
): readonly Finding[] {
  const place: ObjectRef = { kind: "Deployment", namespace, name };
  // With --observe, only the other controller rolls.
  if (watching.length > 0 && watching.every(({ values }) => values.observe)) return [];
  // The other controller may watch all namespaces.
  const fix = watching.some((wave) => replaces(wave, undefined))
    ? `kubectl scale ${kubectlArguments(place)} --replicas=0`
    : "Let only one of the two roll these workloads. Do not stop the other controller until a Wave is ready that watches its namespaces.";
  if (compatibility === "wave") {
    if (watching.length === 0) return [];
    return [problem(place, "Another Wave runs and uses the same annotations. Workloads may roll twice.", fix)];
  }
  if (policy.compatibility?.understood.includes(compatibility)) {
    const what = `${controller} runs, and Wave uses the same annotations (--compatibility). Workloads may roll twice.`;
    return [problem(place, what, fix)];
  }
  const both = annotated.filter((each) => each === compatibility).length;
  if (both === 0) return [];
  const what = `${both === 1 ? "1 workload opts" : `${formatCount(both)} workloads opt`} in to both Wave and ${controller}. For one change, ${both === 1 ? "it" : "each"} may roll twice.`;
  return [warning(place, what, "Remove the annotations of one of the two controllers.")];
}
