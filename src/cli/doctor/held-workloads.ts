import type { HoldReason } from "../../domain/decision/hold.ts";
import type { Explanation } from "../cluster/explanation.ts";
import { age } from "../output/age.ts";
import { type Finding, kubectlArguments, waveArguments, type ObjectRef, problem, warning } from "./finding.ts";

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

/** When a hold is worth telling of: what it then is, and what ends it. */
interface HoldRow {
  /** Since when it must be due; 0: at once. */
  readonly afterMs: number;
  readonly severity: typeof problem;
  readonly fix: (place: ObjectRef) => string;
}

const explain = (place: ObjectRef) => `wave explain ${waveArguments(place)}`;

/** Undefined: somebody wanted just that, or another check tells of it. */
const holdRows: Readonly<Record<HoldReason, HoldRow | undefined>> = {
  observed: undefined,
  // The check of annotations names what cannot be read, on the workload or once on its Namespace.
  invalid: undefined,
  // By itself "wave resume" would give this one the change that broke others.
  halted: {
    afterMs: 0,
    severity: problem,
    fix: (place) => `mend what changed, or what failed; only where both are right: wave resume ${waveArguments(place)}`,
  },
  reverted: { afterMs: 0, severity: problem, fix: explain },
  hold: { afterMs: day, severity: warning, fix: (place) => `wave release ${waveArguments(place)}` },
  approval: { afterMs: day, severity: warning, fix: (place) => `wave approve ${waveArguments(place)}` },
  // A week has each window once.
  window: { afterMs: 8 * day, severity: warning, fix: explain },
  interval: { afterMs: 8 * day, severity: warning, fix: explain },
  settling: { afterMs: day, severity: warning, fix: explain },
  progressing: { afterMs: hour, severity: warning, fix: (place) => `kubectl rollout status ${kubectlArguments(place)}` },
  batch: { afterMs: 30 * minute, severity: warning, fix: explain },
};

/** What is held for longer than it may be, or by what only a person ends. */
export function heldFindings(
  { workload, hold, message, reason }: Pick<Explanation, "workload" | "hold" | "message" | "reason">,
  forMs: number,
): readonly Finding[] {
  const row = hold === null ? undefined : holdRows[hold.reason];
  if (row === undefined || forMs < row.afterMs || (row.afterMs > 0 && Number.isNaN(forMs))) return [];
  const since = row.afterMs === 0 ? "" : `, for ${age(forMs)}`;
  return [row.severity(workload, `${message ?? reason}${since}`, row.fix(workload))];
}
