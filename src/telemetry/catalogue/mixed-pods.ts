import { gauge } from "../metrics/metric-row.ts";

/** Metrics of the controller of mixed Pods. */
export const mixedPodMetrics = {
  mixed: gauge("wave_mixed_pods", {
    help: "Number of Pods that may run configuration that was reverted, or live configuration instead of pinned copies, as the current leader last found them.",
  }),
  workloads: gauge("wave_mixed_workloads", { help: "Number of workloads with such Pods." }),
};
