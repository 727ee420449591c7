import { holdRows } from "../../domain/pacing/holds.ts";
import type { EndedRun } from "../observers/run-observer.ts";

/** The value of the annotation `state`. */
export type HeldState = "held" | "halted";

/** Returns the state of a workload after a run; undefined if no rollout is held, or if the hold is not noted. */
export function heldStateOf(plan: EndedRun["plan"]): HeldState | undefined {
  if (plan === "rolled" || plan.outcome !== "held" || plan.due.outcome !== "roll") return undefined;
  const { reason } = plan.hold;
  if (reason === "halted") return "halted";
  return holdRows[reason].isInState ? "held" : undefined;
}
