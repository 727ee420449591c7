// What follows from a run beside its write: notes on the workload, and the Pods that keep it from its return.
import { rolloutResult } from "../../domain/pacing/rollout-result.ts";
import { wantedOf } from "../../domain/plan/plan.ts";
import { type Verdict, verdictOf } from "../../domain/plan/verdict.ts";
import { type Rules, rulesFor } from "../../domain/policy/rules.ts";
import { mayHaveStuckPods, replaceStuckPods } from "./apply/replace-stuck-pods.ts";
import { checkBy } from "./memory/finish.ts";
import { type ReconcileOutcome, type RolloutEnd, trackEnd, trackStart } from "./memory/outcome.ts";
import { observeRun } from "./mixed-pods/mixed-pods.ts";
import { isPublished, noteState } from "./note-state.ts";
import { momentOf, mustNotWrite, type ReconcileOptions, type ReconcileRun } from "./plan-workload.ts";

/** A run whose plan needs no write. */
type Done = Extract<ReconcileOutcome, { readonly type: "done" }>;

/** Writes what is to be noted after a run, and replaces Pods that keep the workload from its return. Returns how the run ends. */
export async function followUp(
  outcome: ReconcileOutcome,
  run: ReconcileRun,
  options: ReconcileOptions,
): Promise<ReconcileOutcome> {
  const { findings, memory, takeNotePermit: takePermit } = run;
  const differed = observeRun(outcome, memory.changes, findings, memory.unpinned, options);
  findings.isPublished = outcome.type === "written";
  if (outcome.type !== "done") return outcome;
  const { workload, plan } = outcome;
  const rules = rulesFor(workload, options.policy);
  const verdict = verdictNow(run, outcome, rules, options);
  // Readers see in the annotation of the workload that Wave publishes nothing.
  const isObserved = rules.mode.value === "observe" && rules.mode.by === "workload";
  findings.isPublished = isObserved || isPublished(workload, verdict);
  await noteState(workload, plan, verdict, differed, findings, { ...options, takePermit });
  if (!mayHaveStuckPods(workload, options)) return outcome;
  if (mustNotWrite(options)) return { type: "stopped" };
  const failure = await replaceStuckPods(workload, options, takePermit);
  if (failure === undefined) return outcome;
  return failure.type === "stopped" ? failure : { ...failure, workload };
}

/** Returns the verdict on a workload after a run. */
function verdictNow(
  { memory, findings }: ReconcileRun,
  { workload, plan }: Done,
  rules: Rules,
  options: ReconcileOptions,
): Verdict | undefined {
  const moment = momentOf(memory, findings, workload, options);
  const { kept } = wantedOf(workload, options.caches.lookup, rules, undefined);
  return verdictOf(plan, rolloutResult(workload, rules.pacing, moment), kept.size > 0);
}

/** Returns the end of the last rollout of a workload after a run, if it is news. */
export function endOfRollout(
  outcome: ReconcileOutcome,
  { memory, findings }: Pick<ReconcileRun, "memory" | "findings">,
  options: ReconcileOptions,
): RolloutEnd | undefined {
  trackStart(findings, outcome);
  if (outcome.type !== "done" || outcome.plan.outcome === "ignore") return undefined;
  const { workload } = outcome;
  const flags = options.policy.pacing;
  const moment = momentOf(memory, findings, workload, options);
  const result = rolloutResult(workload, flags, moment);
  const end = trackEnd(findings, workload, result, moment.now, flags.rolloutTimeoutMs);
  const isInProgress = result?.state === "inProgress" && findings.reportedRollout?.state === "inProgress";
  if (isInProgress && Number.isFinite(result.failsAt))
    checkBy(findings, options.clock.monotonic() + result.failsAt - moment.now);
  return end;
}
