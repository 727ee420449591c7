import type { Change } from "../config/changes.ts";
import { describeChanges } from "../config/messages.ts";
import { findConfig } from "../config/view-of-references.ts";
import { quoted } from "../syntax/wording.ts";
import type { DueWrite } from "./due.ts";

/**
 * Returns the reason of a rollout. If this process did not see the change, for example because it started later, the times of the API name
 * the changed objects.
 */
export function dueReason(due: DueWrite, reason: string): string {
  return described(due, reason, () => "");
}

/** Returns the reason of a rollout that is held, with the field manager that edited each object last: a person may have to decide. */
export function heldReason(due: DueWrite, reason: string): string {
  return described(due, reason, (change) => {
    const editedBy = findConfig(due.lookup, change)?.editedBy;
    return editedBy === undefined ? "" : `, last edited by ${quoted(editedBy)}`;
  });
}

function described(
  { workload: { namespace }, decision, lookup, changed }: DueWrite,
  reason: string,
  detail: (change: Change) => string,
): string {
  if (decision.outcome !== "roll" || decision.again) return reason;
  const found = changed.filter((object) => findConfig(lookup, object) !== undefined);
  const changes = decision.changed ?? found.map((object): Change => ({ ...object, how: "changed", keys: [] }));
  const { prefix = "", suffix = "" } = decision;
  return `${prefix}${describeChanges(changes, namespace, detail)}${suffix}`;
}
