import type { HoldReason } from "../../domain/outcomes/hold.ts";
import type { EndedRun } from "../observers/run-observer.ts";

/** The value of the annotation `state`. */
export type HeldState = "held" | "halted";

/** Holds that end soon by themselves, or that are for the whole cluster: a write for each would be as many writes as rollouts. */
const unnoted: readonly HoldReason[] = ["observed", "clusterHold", "settling", "interval", "progressing", "batch"];

/** Returns the state of a workload after a run; undefined if no rollout is held, or if the hold is not noted. */
export function heldStateOf(plan: EndedRun["plan"]): HeldState | undefined {
  if (plan === "rolled" || plan.outcome !== "held" || plan.due.outcome !== "roll") return undefined;
  const { reason } = plan.hold;
  if (reason === "halted") return "halted";
  return unnoted.includes(reason) ? undefined : "held";
}
