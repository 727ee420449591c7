import type { RolloutPlan } from "../../../domain/plan/plan.ts";
import type { workloadMetrics } from "../../../telemetry/catalogue/workloads.ts";
import type { LabelsOf } from "../../../telemetry/metrics/metric-row.ts";
import type { ReconcileOutcome } from "./outcome.ts";

/** The state of a workload in `wave_workloads`. */
export type WorkloadState = LabelsOf<typeof workloadMetrics.workloads>["state"];

/** Returns the state of a workload after a run that ended with `outcome`; `before` if the outcome does not change it. */
export function stateAfter(
  before: WorkloadState | undefined,
  outcome: ReconcileOutcome | "bug",
): WorkloadState | undefined {
  if (outcome === "bug") return "bug";
  switch (outcome.type) {
    case "done":
      return stateOfPlan(outcome.plan);
    case "written":
      return "current";
    case "permitPending":
    case "stopped":
    case "conflict":
    case "unavailable":
      return "due";
    case "refused":
      return "refused";
    case "gone":
      return before;
  }
}

/** Returns the state of a workload whose plan needs no write. */
export function stateOfPlan(plan: RolloutPlan): WorkloadState {
  switch (plan.outcome) {
    case "ignore":
    case "waiting":
    case "overLimit":
    case "held":
      return plan.outcome;
    case "current":
      return plan.unproven === undefined ? "current" : "unproven";
    default:
      return "current";
  }
}

/** Reports whether a workload in this state needs no attention. */
export function isHealthy(state: WorkloadState | undefined): boolean {
  return state === undefined || state === "current" || state === "ignore";
}
