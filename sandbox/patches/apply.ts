import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  type MutableJsonObject,
  objectOf,
  sameJson,
} from "../objects/json.ts";
import type { ApiObject, ManagedFieldsEntry } from "../objects/object.ts";
import { type Cause, StatusError } from "../objects/status-error.ts";
import { difference, fieldsNamedBy, formatField, isWithin, valueOfField, withoutField } from "./field-set.ts";
import { fromFieldsV1 } from "./fields-v1.ts";
import { isAtomicObject, itemKeys, listMerge } from "./list-keys.ts";
import { entryOf, type FieldManager, isEntryOf, narrowed } from "./managed-fields.ts";

/** What applying a configuration leaves: the object before defaults, and who owns what then. */
export interface Applied {
  readonly object: JsonObject;
  readonly managedFields: readonly ManagedFieldsEntry[];
}

/**
 * Applies a configuration to a copy of the live object, or to nothing, as server-side apply does.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/
 * Removes the fields that this manager applied before and no longer specifies, unless another manager owns them.
 * Throws 409 if another manager owns a field with another value and `force` is false.
 */
export function applyConfiguration(
  live: ApiObject | undefined,
  configuration: JsonObject,
  writer: FieldManager,
  force: boolean,
): Applied {
  const entries = live?.metadata.managedFields ?? [];
  const named = fieldsNamedBy(configuration);
  const own = entries.find((entry) => isEntryOf(entry, writer));
  const others = entries.filter((entry) => entry !== own);
  const conflicts = live === undefined ? [] : conflictsWith(others, [...named], live, configuration);
  if (conflicts.length > 0 && !force) throw applyConflict(conflicts);
  const taken = new Set(conflicts.map(({ field }) => field));
  const kept = others.flatMap((entry) => narrowed(entry, taken));
  const merged = merge("", live, configuration);
  const dropped = own === undefined ? [] : [...difference(fromFieldsV1(own.fieldsV1), named)];
  // An entry that was an update before names also the maps of its fields.
  const isNamed = (field: string) => [...named].some((each) => isWithin(each, field));
  const gone = dropped.filter((field) => !isNamed(field) && !ownedByAny(kept, field));
  const object = objectOf(gone.reduce(withoutField, merged));
  const apiVersion = String(configuration.apiVersion);
  return { object, managedFields: named.size === 0 ? kept : [...kept, entryOf(writer, apiVersion, named)] };
}

function ownedByAny(entries: readonly ManagedFieldsEntry[], field: string): boolean {
  return entries.some((entry) => [...fromFieldsV1(entry.fieldsV1)].some((owned) => isWithin(owned, field)));
}

function merge(field: string, live: Json | undefined, applied: Json): Json {
  if (isObject(applied) && isObject(live) && !isAtomicObject(field)) {
    const result: MutableJsonObject = { ...live };
    for (const [name, value] of Object.entries(applied)) {
      if (value !== undefined) result[name] = merge(name, live[name], value);
    }
    return result;
  }
  if (!isList(applied) || !isList(live)) return applied;
  const rule = listMerge(field, [...live, ...applied]);
  if (rule.type === "atomic") return applied;
  if (rule.type === "set") return [...live, ...applied.filter((item) => !live.includes(item))];
  const sameItem = (a: Json) => (b: Json) => sameJson(itemKeys(a, rule), itemKeys(b, rule));
  const added = applied.filter((item) => !live.some(sameItem(item)));
  return [
    ...live.map((item) => {
      const change = applied.find(sameItem(item));
      return change === undefined ? item : merge("", item, change);
    }),
    ...added,
  ];
}

interface Conflict {
  readonly owner: ManagedFieldsEntry;
  readonly field: string;
}

function conflictsWith(
  others: readonly ManagedFieldsEntry[],
  named: readonly string[],
  live: ApiObject,
  configuration: JsonObject,
): Conflict[] {
  const differing = named.filter((field) => {
    const value = valueOfField(live, field);
    return value !== undefined && !agrees(value, valueOfField(configuration, field), field);
  });
  return others.flatMap((owner) => {
    const owned = fromFieldsV1(owner.fieldsV1);
    return differing.filter((field) => owned.has(field)).map((field) => ({ owner, field }));
  });
}

/** A list item is only a place for its fields: these are compared one by one. */
function agrees(live: Json, applied: Json | undefined, field: string): boolean {
  return field.endsWith("}") || sameJson(live, applied);
}

function applyConflict(conflicts: readonly Conflict[]): StatusError {
  const causes = conflicts.map(({ owner, field }): Cause => {
    const version = owner.operation === "Update" ? ` using ${owner.apiVersion}` : "";
    const part = owner.subresource === undefined ? "" : ` with subresource ${JSON.stringify(owner.subresource)}`;
    const message = `conflict with ${JSON.stringify(owner.manager)}${part}${version}`;
    return { reason: "FieldManagerConflict", message, field: formatField(field) };
  });
  const list = causes.map(({ message, field }) => `${message}: ${field}`).join("\n");
  const plural = causes.length === 1 ? "conflict" : "conflicts";
  const details = { causes: causes.map(({ reason, message, field }) => ({ reason, message, field })) };
  return new StatusError(409, "Conflict", `Apply failed with ${causes.length} ${plural}: ${list}`, details);
}
