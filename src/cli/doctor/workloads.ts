import { counted } from "../../domain/syntax/wording.ts";
import { type Explanation, explainWorkload } from "../cluster/explanation.ts";
import { withReason } from "../cluster/kubernetes-reason.ts";
import { age } from "../output/age.ts";
import type { DoctorContext } from "./doctor-context.ts";
import {
  type Examined,
  type Found,
  kubectlName,
  nameForWave,
  notRead,
  type Place,
  problem,
  unchecked,
  warning,
} from "./finding.ts";
import { heldFor } from "./halted-workloads.ts";
import { fixOfMissing } from "./missing.ts";

const minute = 60_000;

/** What is due is written within seconds, but for many at once, at `--update-rate`. */
const dueForMs = 5 * minute;

/** Whether those that opted in run with their current configuration, or come to it by themselves. */
export async function workloads(doctorContext: DoctorContext): Promise<Examined> {
  const all = await doctorContext.workloads();
  if ("unread" in all) return { found: [notRead(null, "where workloads stand", all)], fine: "" };
  const { asked, failures, gaps } = all.read;
  const found: Found[] = [...failures, ...gaps].map((line) => unchecked(null, line));
  // Of many findings a person is shown the first: what halted others comes before all whom it halted.
  const held: Found[] = [];
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

function foundOf(explanation: Explanation, { now }: DoctorContext): readonly Found[] {
  const { state, workload, message, reason, kubernetes, since } = explanation;
  const place: Place = workload;
  const told = withReason(message ?? reason, kubernetes);
  const sinceMs = now - Date.parse(since ?? "");
  switch (state) {
    case "waiting":
      return [problem(place, told, fixOfMissing(explanation))];
    case "failed":
      return [problem(place, told, `kubectl describe ${kubectlName(place)}`)];
    case "tooLarge":
      return [problem(place, told, "docs/limits.md")];
    case "behind":
      return [warning(place, told, `wave explain ${nameForWave(place)}`)];
    case "held":
      return heldFor(explanation, sinceMs);
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
      return kubernetes === null ? [] : [warning(place, told, `kubectl describe ${kubectlName(place)}`)];
    case "current":
    case "ignored":
    case "unknown":
      return [];
  }
}

function forEvents({ kind, namespace, name }: Place): string {
  return `-n ${namespace} --for ${kind.toLowerCase()}/${name}`;
}
