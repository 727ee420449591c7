import type { Style } from "../output/paint.ts";
import type { WorkloadState } from "./workload-state.ts";

/** How the state of a workload looks: red is for a person to end, yellow ends by itself or was asked for. */
export const stateStyles: Readonly<Record<WorkloadState, Style>> = {
  current: "green",
  rolling: "cyan",
  due: "cyan",
  held: "yellow",
  waiting: "red",
  failed: "red",
  behind: "yellow",
  tooLarge: "red",
  unknown: "yellow",
  ignored: "dim",
};
