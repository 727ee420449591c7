import type { RolloutPlan } from "../../../domain/plan/plan.ts";
import type { workloadMetrics } from "../../../telemetry/catalogue/workloads.ts";
import type { LabelsOf } from "../../../telemetry/metrics/metric-row.ts";

/** What a workload is, as `wave_workloads` counts it; "pending" has something to write that was not written yet. */
export type WorkloadState = LabelsOf<typeof workloadMetrics.workloads>["state"];

/** The state of a workload whose plan asks for no write. */
export function settledState(outcome: RolloutPlan["outcome"]): WorkloadState {
  switch (outcome) {
    case "ignore":
    case "waiting":
    case "overLimit":
    case "held":
      return outcome;
    default:
      return "current";
  }
}

/** Whether a workload in this state has what it should have. */
export function isHealthy(state: WorkloadState | undefined): boolean {
  return state === undefined || state === "current" || state === "ignore";
}
