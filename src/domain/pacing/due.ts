import type { Config } from "../config/digest.ts";
import { type ConfigView, comparedHash, readsOtherContent } from "../config/hash.ts";
import { changesSince, readDigests } from "../config/recorded-digests.ts";
import { isExcluded } from "../config/tracked-references.ts";
import { type Change, describeChanges, findConfig, type Lookup } from "../config/view-of-references.ts";
import { isSchedulingHeld } from "../model/scheduling-hold.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { DueDecision, RolloutEdit } from "../outcomes/outcomes.ts";
import type { HashKeys } from "../policy/hash-key.ts";
import type { Rules } from "../policy/rules.ts";
import { type ConfigName, configKey, type Reference } from "../references/references.ts";
import { quoted } from "../syntax/names.ts";
import type { Moment } from "./moment.ts";

/** A due write, and everything that may hold it. */
export interface DueWrite {
  readonly workload: Workload;
  readonly decision: DueDecision;
  readonly lookup: Lookup;
  readonly rules: Rules;
  readonly moment: Moment;
  /** The objects whose changes made it due, found by {@link changedObjects}. */
  readonly changed: readonly ConfigName[];
}

/** Returns a due write with the objects whose changes made it due. */
export function dueWrite(facts: Omit<DueWrite, "changed">): DueWrite {
  return { ...facts, changed: changedObjects(facts) };
}

/**
 * Reports whether a write replaces running Pods. A write that ends a scheduling hold does not: its Pods are pending. A write of
 * the recorded hash does not either.
 */
export function replacesPods(workload: Workload, decision: DueDecision): boolean {
  if (decision.outcome !== "roll" && decision.outcome !== "firstHash") return false;
  if (decision.outcome === "roll" && decision.again) return true;
  const isNew = decision.hash !== workload.recordedHash || readsOtherContent(workload, decision.hash);
  return isNew && !isSchedulingHeld(workload);
}

/**
 * Returns the objects that a workload reads and whose changes made it due. An object that it no longer reads is not included:
 * that is an edit of the workload. If the previous configuration is unknown, returns the objects that differ from the digests of the
 * recorded hash: also those of whose change the API has no time. Without a digest of an object, the times of the API show whether it
 * changed after the last rollout. If there are none, returns missing objects, because one of them may have existed.
 */
export function changedObjects({
  workload,
  decision,
  lookup,
  rules,
}: Pick<DueWrite, "workload" | "decision" | "lookup" | "rules">): readonly ConfigName[] {
  if (decision.outcome === "roll" && decision.changed !== undefined) {
    // A regular expression match is not a reference, and it is unknown after the object is deleted.
    if (workload.peer?.patterns.length) return decision.changed;
    const read = new Set(workload.references.map(configKey));
    return decision.changed.filter((object) => read.has(configKey(object)));
  }
  if (!("view" in decision)) return [];
  const shown = new Set(decision.view.entries.map(configKey));
  const seen = (reference: Reference) =>
    reference.reads !== "existence" &&
    (reference.namespace === workload.namespace || shown.has(configKey(reference))) &&
    !isExcluded(workload, rules, reference);
  const matched = workload.peer?.patterns.length ? decision.view.entries : [];
  const all: readonly ConfigName[] = [...workload.references.filter(seen), ...matched];
  const objects = [...new Map(all.map((each) => [configKey(each), each])).values()];
  const found = objects
    .map((object) => ({ object, config: findConfig(lookup, object) }))
    .filter(({ config }) => config?.directive !== "ignore" && config?.directive !== "unselected")
    // A SecretProviderClass that no Pod has mounted is unknown. That is not a change.
    .filter(({ object, config }) => config !== undefined || object.kind !== "SecretProviderClass");
  const differences =
    decision.outcome === "roll" && !decision.again
      ? recordedDifferences(workload, decision.view, rules.hashKeys)
      : undefined;
  const isLater = (config: Config | undefined) => config && (config.changedAt ?? 0) >= workload.hashWrittenAt;
  const since = found.filter(({ object, config }) => {
    const known = differences?.(object);
    return known === undefined ? isLater(config) : known.length > 0;
  });
  const changed = since.length > 0 ? since : found.filter(({ config }) => config === undefined);
  return changed.map(({ object: { kind, namespace, name } }) => ({ kind, namespace, name }));
}

/** Returns the objects whose changes made a rollout due; undefined if neither this process nor the API shows any. */
export function knownChanges({ decision, changed }: DueWrite): readonly ConfigName[] | undefined {
  if (decision.outcome !== "roll") return undefined;
  return decision.changed ?? (changed.length > 0 ? changed : undefined);
}

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
  const { workload, decision, lookup, rules, changed } = due;
  if (decision.outcome !== "roll" || decision.again) return [];
  if (decision.changed !== undefined) return decision.changed;
  const find = recordedDifferences(workload, decision.view, rules.hashKeys);
  if (find === undefined) return changed.flatMap((object) => changeByTimes(object, decision.view, due));
  const missing = workload.references.filter(
    (each) => findConfig(lookup, each) === undefined && !isExcluded(workload, rules, each),
  );
  const objects = new Map<string, ConfigName>(
    [...decision.view.entries, ...missing, ...changed].map((each) => [configKey(each), each]),
  );
  const byTimes = new Set(changed.map(configKey));
  return [...objects]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([id, object]) => find(object) ?? (byTimes.has(id) ? changeByTimes(object, decision.view, due) : []));
}

/** Returns how an object differs from the digests of the recorded hash, as {@link changesSince}; undefined without such digests. */
function recordedDifferences(
  workload: Workload,
  view: ConfigView,
  hashKeys: HashKeys | undefined,
): ReturnType<typeof changesSince> | undefined {
  const digests = readDigests(workload.configDigests, comparedHash(workload), hashKeys);
  return digests && changesSince(digests, view, workload.references);
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
