import { holdRows, isHalt } from "../../../domain/pacing/holds.ts";
import { configKey } from "../../../domain/references/references.ts";
import { formatCount, formatList, waveArguments } from "../../../domain/syntax/names.ts";
import type { Explanation } from "../../cluster/explanation/explanation.ts";
import { age, sentences } from "../../output/sentences.ts";
import { describeRef, type Finding, kubectlArguments, problem, warning } from "../context/finding.ts";

/** Returns a finding if a workload is held for too long, or by a hold that only a person ends. `forMs` is NaN if the time is unknown. */
export function heldFindings(
  { workload, hold, message, reason }: Pick<Explanation, "workload" | "hold" | "message" | "reason">,
  forMs: number,
): readonly Finding[] {
  const { reportedAfterMs: afterMs, isRollout } = hold === null ? {} : holdRows[hold.reason];
  if (afterMs === undefined || forMs < afterMs || (afterMs > 0 && Number.isNaN(forMs))) return [];
  const [severity, since] = afterMs === 0 ? [problem, ""] : [warning, `Due for ${age(forMs)}`];
  const next = isRollout
    ? `kubectl rollout status ${kubectlArguments(workload)}`
    : `wave explain ${waveArguments(workload)}`;
  return [severity(workload, sentences(message ?? reason, since), next)];
}

/** How many halted workloads a finding names. */
const mostNamed = 5;

/** Returns one finding for each changed object whose rollout is halted, with the workloads that wait for it. */
export function haltFindings(explanations: readonly Pick<Explanation, "workload" | "hold">[]): readonly Finding[] {
  const halted = explanations.filter(({ hold }) => hold !== null && isHalt(hold));
  const groups = Map.groupBy(
    halted,
    ({ workload, hold }) => `${workload.namespace} ${hold?.object && configKey(hold.object)}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || first.hold === null) return [];
    const { workload, hold } = first;
    const names = group.map(({ workload: { kind, name } }) => `${kind.toLowerCase()}/${name}`);
    const count = `${formatCount(group.length)} ${group.length === 1 ? "workload is" : "workloads are"} halted`;
    const where = hold.object ?? workload;
    const fix = `Fix ${describeRef(where)} or the failed workloads. Only if both are correct: wave resume ${waveArguments(where)}`;
    return [problem(where, sentences(hold.message, `${count}: ${formatList(names, mostNamed, String)}`), fix)];
  });
}
