import type { DirectiveContext } from "../compatibility/directives.ts";
import { rolloutStrategy } from "../compatibility/stakater.ts";
import type { Annotations } from "../references/wave-annotations.ts";
import type { TemplateSource, WorkloadRow } from "./kind-row.ts";
import { type RolloutStrategy, rolloutStrategies } from "./rollout-strategy.ts";

/** Returns the strategy of an object of a kind, given its annotations and the object whose pod template it uses. */
export function strategyOf(
  row: WorkloadRow,
  templateSource: TemplateSource | undefined,
  annotations: Annotations,
  { compatibility }: DirectiveContext,
): RolloutStrategy {
  const canRestart = row.restartAt !== undefined && compatibility?.understood.includes("stakater") === true;
  if (canRestart && annotations[rolloutStrategy] === "restart") return rolloutStrategies.restart;
  return rolloutStrategies[row.strategy ?? (templateSource === undefined ? "template" : "templateSource")];
}
