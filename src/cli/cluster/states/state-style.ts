import type { Style } from "../../output/paint.ts";
import type { WorkloadStateName } from "./workload-states.ts";

/** The colour of each state. Red needs a person; yellow ends by itself or is intended. */
export const stateStyles: Readonly<Record<WorkloadStateName, Style>> = {
  current: "green",
  rolling: "cyan",
  due: "cyan",
  held: "yellow",
  waiting: "red",
  failed: "red",
  behind: "yellow",
  overLimit: "red",
  unknown: "yellow",
  ignored: "dim",
};
