import { describeObject } from "../config/messages.ts";
import { findConfig, type Lookup } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload.ts";
import type { ExplainedDecision } from "../outcomes/outcomes.ts";
import { type ConfigName, configKey, type Reference } from "../references/references.ts";
import { formatList } from "../syntax/wording.ts";

/** How long after its creation Wave sees a new workload for the first time, at the latest, in milliseconds. An older one ran before Wave did. */
const newForMs = 60_000;
/** How many objects a reason names. */
const shownObjects = 3;

/**
 * Returns the decision about a new workload whose current configuration would be recorded as what its Pods read. Its first Pods read what was
 * live when it was created. An object that was edited later replaces them. The API has whole seconds: for an edit in the second of the
 * creation, the reason says that it is unclear. `now` is in milliseconds since the epoch.
 */
export function withEarlyEdits(
  decision: ExplainedDecision,
  workload: Workload,
  references: readonly Reference[],
  lookup: Lookup,
  now: number,
): ExplainedDecision {
  const { createdAt, recordedHash, recordedConfig, strategy } = workload;
  if (decision.outcome !== "recorded" || decision.cause !== "firstSight" || strategy.hasImmutableTemplate)
    return decision;
  if (recordedHash !== undefined || recordedConfig !== undefined) return decision;
  if (createdAt === 0 || Math.abs(now - createdAt * 1000) > newForMs) return decision;
  const read = new Map(references.filter(({ reads }) => reads !== "existence").map((each) => [configKey(each), each]));
  const edited = [...read.values()].flatMap((object) => {
    const { editedAt = 0 } = findConfig(lookup, object) ?? {};
    return editedAt >= createdAt ? { object, editedAt } : [];
  });
  const describe = (objects: typeof edited) => describeAll(objects, workload.namespace);
  const later = edited.filter(({ editedAt }) => editedAt > createdAt);
  const { hash, view, reason } = decision;
  if (later.length > 0)
    return { outcome: "firstHash", hash, view, reason: `${describe(later)} changed after the workload was created` };
  if (edited.length === 0) return decision;
  const unclear = `${describe(edited)} changed in the second in which the workload was created, so its Pods may have read the earlier content`;
  return { ...decision, reason: `${reason}; ${unclear}` };
}

function describeAll(edited: readonly { readonly object: ConfigName }[], namespace: string): string {
  return formatList(edited, shownObjects, ({ object }) => describeObject(object, namespace));
}
