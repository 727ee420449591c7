import type { MemberFacts } from "../pacing/batch-member.ts";
import { type ConfigName, configKey } from "../references/references.ts";
import type { RolloutPlan } from "./plan.ts";

/** What a plan without batches shows about a workload as a member of the batches of a change. */
export type PlannedFacts = Pick<MemberFacts, "position" | "held" | "isCurrent">;

/** Returns what a decision without a hold of batches shows about the change of an object. `config` is the key of the object. */
export function plannedFacts(plan: RolloutPlan, config: string): PlannedFacts {
  const isDue = plan.batched !== undefined && keysOf(plan.batched).has(config);
  const due = plan.outcome === "held" ? plan.due : undefined;
  const held = due && { changed: due.outcome === "roll" && due.changed ? keysOf(due.changed) : undefined };
  return { position: isDue ? "due" : "none", held, isCurrent: plan.outcome === "current" };
}

function keysOf(objects: readonly ConfigName[]): ReadonlySet<string> {
  return new Set(objects.map(configKey));
}
