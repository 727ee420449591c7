import { counted } from "../../domain/syntax/wording.ts";
import { type Explanation, explainWorkload } from "../cluster/explanation.ts";
import { withKubernetesReason } from "../cluster/kubernetes-reason.ts";
import { age } from "../output/age.ts";
import type { DoctorContext } from "./doctor-context.ts";
import {
  type CheckResult,
  type Finding,
  kubectlArguments,
  waveArguments,
  notRead,
  type ObjectRef,
  problem,
  unchecked,
  warning,
} from "./finding.ts";
import { heldFindings } from "./held-workloads.ts";
import { missingObjectFix } from "./missing-object-fix.ts";

const minute = 60_000;

/** What is due is written within seconds, but for many at once, at `--update-rate`. */
const dueForMs = 5 * minute;

/** Whether those that opted in run with their current configuration, or come to it by themselves. */
export async function checkWorkloads(doctorContext: DoctorContext): Promise<CheckResult> {
  const all = await doctorContext.workloads();
  if ("unread" in all) return { found: [notRead(null, "where workloads stand", all)], fine: "" };
  const { asked, failures, gaps } = all.read;
  const found: Finding[] = [...failures, ...gaps].map((line) => unchecked(null, line));
  // Of many findings a person is shown the first: what halted others comes before all whom it halted.
  const held: Finding[] = [];
  let unknown = 0;
  for (const each of asked) {
    const explanation = explainWorkload(each);
    if (explanation.state === "unknown") unknown += 1;
    else {
      const list = explanation.state === "held" ? held : found;
      list.push(...foundOf(explanation, doctorContext));
    }
  }
  if (unknown > 0)
    found.push(
      unchecked(
        null,
        `${unknown === 1 ? "1 workload hangs" : `${counted(unknown)} workloads hang`} on what you may not read`,
      ),
    );
  return {
    found: [...found, ...held],
    fine: `${counted(asked.length)} opted in, none waits, failed or is held for long`,
  };
}

function foundOf(explanation: Explanation, { now }: DoctorContext): readonly Finding[] {
  const { state, workload, message, reason, kubernetes, since } = explanation;
  const place: ObjectRef = workload;
  const told = withKubernetesReason(message ?? reason, kubernetes);
  const sinceMs = now - Date.parse(since ?? "");
  switch (state) {
    case "waiting":
      return [problem(place, told, missingObjectFix(explanation))];
    case "failed":
      return [problem(place, told, `kubectl describe ${kubectlArguments(place)}`)];
    case "tooLarge":
      return [problem(place, told, "docs/limits.md")];
    case "behind":
      return [warning(place, told, `wave explain ${waveArguments(place)}`)];
    case "held":
      return heldFindings(explanation, sinceMs);
    case "due":
      if (!(sinceMs > dueForMs)) return [];
      return [
        problem(
          place,
          `it is due for ${age(sinceMs)}, and Wave does not write it`,
          `kubectl events ${forEvents(place)}`,
        ),
      ];
    case "rolling":
      return kubernetes === null ? [] : [warning(place, told, `kubectl describe ${kubectlArguments(place)}`)];
    case "current":
    case "ignored":
    case "unknown":
      return [];
  }
}

function forEvents({ kind, namespace, name }: ObjectRef): string {
  return `-n ${namespace} --for ${kind.toLowerCase()}/${name}`;
}
