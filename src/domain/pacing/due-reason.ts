import { type Change, describeChanges } from "../config/changes.ts";
import { type ConfigView, comparedHash } from "../config/hash.ts";
import { changesSince, readDigests } from "../config/recorded-digests.ts";
import { isExcluded } from "../config/tracked-references.ts";
import { findConfig } from "../config/view-of-references.ts";
import type { RolloutEdit } from "../outcomes/outcomes.ts";
import { type ConfigName, configKey } from "../references/references.ts";
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

function described(due: DueWrite, reason: string, detail: (change: Change) => string): string {
  const { workload, decision } = due;
  if (decision.outcome !== "roll" || decision.again) return reason;
  const { prefix = "", suffix = "" } = decision;
  return `${prefix}${describeChanges(changesOf(due), workload.namespace, detail)}${suffix}`;
}

/** Returns the last edits of the objects whose changes made a rollout due. */
export function editsOf(due: DueWrite): readonly RolloutEdit[] {
  return changesOf(due).map(({ how, keys, ...object }) => {
    const { editedAt, changedAt, editedBy } = findConfig(due.lookup, object) ?? {};
    const seconds = editedAt ?? changedAt;
    // The only key of a SecretProviderClass is internal to Wave.
    const known = object.kind === "SecretProviderClass" ? [] : keys;
    return { ...object, keys: known, at: seconds && seconds * 1000, by: editedBy };
  });
}

/**
 * Returns what made a rollout due. If this process did not see it: what differs from the digests of the recorded hash. Without digests: the
 * objects that changed since the last rollout, with the key that alone was edited since, if the API shows it. If no Pod reads this key, the object
 * is no reason.
 */
function changesOf(due: DueWrite): readonly Change[] {
  const { workload, decision, lookup, policy, changed, hashKeys } = due;
  if (decision.outcome !== "roll" || decision.again) return [];
  if (decision.changed !== undefined) return decision.changed;
  const digests = readDigests(workload.configDigests, comparedHash(workload), hashKeys);
  if (digests === undefined) return changed.flatMap((object) => changeByTimes(object, decision.view, due));
  const find = changesSince(digests, decision.view, workload.references);
  const missing = workload.references.filter(
    (each) => findConfig(lookup, each) === undefined && !isExcluded(workload, policy, each),
  );
  const objects = new Map<string, ConfigName>(
    [...decision.view.entries, ...missing, ...changed].map((each) => [configKey(each), each]),
  );
  const byTimes = new Set(changed.map(configKey));
  return [...objects]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([id, object]) => find(object) ?? (byTimes.has(id) ? changeByTimes(object, decision.view, due) : []));
}

function changeByTimes(
  { kind, namespace, name }: ConfigName,
  view: ConfigView,
  { lookup, workload: { hashWrittenAt } }: DueWrite,
): readonly Change[] {
  const object = { kind, namespace, name };
  const found = findConfig(lookup, object);
  if (found === undefined) return [];
  const { editedAt = 0, editedKey } = found;
  if (editedKey === undefined || editedKey.since >= hashWrittenAt || editedAt < hashWrittenAt)
    return [{ ...object, how: "changed", keys: [] }];
  const isRead = view.entries.some((entry) => entry.key === editedKey.name && configKey(entry) === configKey(object));
  return isRead ? [{ ...object, how: "changed", keys: [editedKey.name] }] : [];
}
