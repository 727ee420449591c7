import type { HoldReason } from "../../../domain/outcomes/hold.ts";
import { isHalt } from "../../../domain/pacing/holds.ts";
import { configKey } from "../../../domain/references/references.ts";
import { waveArguments } from "../../../domain/syntax/wave-arguments.ts";
import { formatCount, formatList } from "../../../domain/syntax/wording.ts";
import type { Explanation } from "../../cluster/explanation/explanation.ts";
import { age } from "../../output/age.ts";
import { sentences } from "../../output/sentences.ts";
import { describeRef, type Finding, kubectlArguments, type ObjectRef, problem, warning } from "../context/finding.ts";

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

/** When a hold becomes a finding, its severity, and the next step. */
interface HoldFinding {
  /** How long the workload must be due, in milliseconds; 0: at once. */
  readonly afterMs: number;
  readonly severity: typeof problem;
  readonly fix: (workload: ObjectRef) => string;
}

const explain = (workload: ObjectRef) => `wave explain ${waveArguments(workload)}`;

/** The findings by hold reason; undefined if a person wants the hold, or if another check reports it. */
const holdFindings: Readonly<Record<HoldReason, HoldFinding | undefined>> = {
  observed: undefined,
  // The check of the installation reports the hold, once.
  clusterHold: undefined,
  // The check of annotations reports the invalid value, once for a workload or its Namespace.
  invalid: undefined,
  // Reported once for each changed object, by haltFindings.
  halted: undefined,
  validator: undefined,
  reverted: { afterMs: 0, severity: problem, fix: explain },
  // The message names the command for what holds: the workload, its Namespace or an object.
  hold: { afterMs: day, severity: warning, fix: explain },
  // Whoever approves looks at the change first.
  approval: { afterMs: day, severity: warning, fix: explain },
  // Every window opens at least once a week.
  window: { afterMs: 8 * day, severity: warning, fix: explain },
  interval: { afterMs: 8 * day, severity: warning, fix: explain },
  settling: { afterMs: day, severity: warning, fix: explain },
  progressing: {
    afterMs: hour,
    severity: warning,
    fix: (workload) => `kubectl rollout status ${kubectlArguments(workload)}`,
  },
  alert: { afterMs: day, severity: warning, fix: explain },
  alertsUnknown: { afterMs: 30 * minute, severity: warning, fix: explain },
  batch: { afterMs: 30 * minute, severity: warning, fix: explain },
};

/** Returns a finding if a workload is held for too long, or by a hold that only a person ends. `forMs` is NaN if the time is unknown. */
export function heldFindings(
  { workload, hold, message, reason }: Pick<Explanation, "workload" | "hold" | "message" | "reason">,
  forMs: number,
): readonly Finding[] {
  const row = hold === null ? undefined : holdFindings[hold.reason];
  if (row === undefined || forMs < row.afterMs || (row.afterMs > 0 && Number.isNaN(forMs))) return [];
  const since = row.afterMs === 0 ? "" : `Due for ${age(forMs)}`;
  return [row.severity(workload, sentences(message ?? reason, since), row.fix(workload))];
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
    return [problem(pick(where), sentences(hold.message, `${count}: ${formatList(names, mostNamed, String)}`), fix)];
  });
}

function pick({ kind, namespace, name }: ObjectRef): ObjectRef {
  return { kind, namespace, name };
}
