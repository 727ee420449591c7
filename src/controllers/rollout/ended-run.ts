import type { EndedRun } from "../observers/run-observer.ts";
import { hasCaughtUp } from "./freshness/caught-up.ts";
import type { FinishedRun, RunStart } from "./record/finish.ts";

/** Returns what a run has shown about the configuration; undefined if it has shown nothing. */
export function endedRun(
  outcome: FinishedRun["outcome"],
  { changes }: RunStart,
  findings: FinishedRun["findings"],
): EndedRun | undefined {
  if (outcome === "bug") return undefined;
  if (outcome.type === "done") {
    const { workload, plan } = outcome;
    return { workload, plan, changes, caughtUp: hasCaughtUp(findings, workload) };
  }
  if (outcome.type !== "written" || outcome.plan.outcome !== "roll") return undefined;
  return { workload: outcome.before, plan: "rolled", rolledTo: outcome.plan.hash, changes, caughtUp: true };
}
