import { describeObject } from "../config/changes.ts";
import type { Workload } from "../model/workload.ts";
import type { ExplainedDecision } from "../outcomes/outcomes.ts";
import { configKey } from "../references/references.ts";
import { formatList } from "../syntax/wording.ts";

/** Limit of the objects in a reason. */
const shownObjects = 3;

/**
 * Adds to the reason of a rollout after an undo what the undo does not restore: the hash of the earlier revision includes it, too. `kept` are
 * the ConfigMaps that Pods read from the copies of that revision. A rollout with known changes names them already.
 */
export function withUnrestored<T extends ExplainedDecision>(
  decision: T,
  { namespace }: Workload,
  kept: ReadonlySet<string>,
): T {
  if (decision.outcome !== "roll" || decision.changed !== undefined || kept.size === 0) return decision;
  const isKept = (object: { kind: string; namespace: string; name: string }) =>
    object.kind === "ConfigMap" && object.namespace === namespace && kept.has(object.name);
  const objects = new Map(decision.view.entries.filter((each) => !isKept(each)).map((each) => [configKey(each), each]));
  if (objects.size === 0) return decision;
  const names = formatList([...objects.values()], shownObjects, (each) => describeObject(each, namespace));
  const suffix = `, and a rollback does not restore ${names}`;
  return { ...decision, suffix, reason: decision.reason + suffix };
}
