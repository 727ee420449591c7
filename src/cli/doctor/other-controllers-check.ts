import { counted } from "../../domain/syntax/wording.ts";
import { type OtherController, otherControllers } from "../cluster/other-controllers.ts";
import type { DoctorContext } from "./doctor-context.ts";
import { type CheckResult, type Finding, kubectlArguments, notRead, type ObjectRef, problem, warning } from "./finding.ts";

/** Whether another controller rolls the same workloads: both would, for one change. */
export async function checkOtherControllers(doctorContext: DoctorContext): Promise<CheckResult> {
  const controllers = await otherControllers(doctorContext.cluster.client, undefined);
  if ("unread" in controllers)
    return {
      found: [notRead(null, "whether another controller runs", controllers)],
      fine: "",
    };
  const { askOthers } = await doctorContext.written();
  const own = "unread" in doctorContext.waves ? [] : doctorContext.waves;
  const running = controllers.filter(
    ({ namespace, name, replicas }) =>
      replicas > 0 && !own.some((wave) => wave.namespace === namespace && wave.name === name),
  );
  return {
    found: running.flatMap((controller) => about(controller, doctorContext, askOthers)),
    fine: "no other controller rolls what Wave rolls",
  };
}

function about(
  { controller, compatibility, namespace, name }: OtherController,
  { policy, serving }: DoctorContext,
  askOthers: Awaited<ReturnType<DoctorContext["written"]>>["askOthers"],
): readonly Finding[] {
  const place: ObjectRef = { kind: "Deployment", namespace, name };
  const fix = `kubectl scale ${kubectlArguments(place)} --replicas=0`;
  if (compatibility === "wave") {
    if (serving.length === 0) return [];
    return [problem(place, `it is another Wave, and rolls by the same annotations`, fix)];
  }
  if (policy.compatibility?.understood.includes(compatibility))
    return [problem(place, `${controller} runs, and Wave rolls by the same annotations: --compatibility`, fix)];
  const both = askOthers.get(compatibility) ?? 0;
  if (both === 0) return [];
  return [
    warning(
      place,
      `${controller} runs, and ${both === 1 ? "1 workload asks" : `${counted(both)} workloads ask`} both it and Wave: each rolls ${both === 1 ? "it" : "them"}`,
      "ask only one of them",
    ),
  ];
}
