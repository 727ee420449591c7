import { without } from "../objects/json.ts";
import type { ApiObject, ManagedFieldsEntry } from "../objects/object.ts";
import { compareFields, difference, type FieldSet, isWithin, union } from "./field-set.ts";
import { fromFieldsV1, toFieldsV1 } from "./fields-v1.ts";

/** Who writes, through which subresource, and when. */
export interface FieldManager {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly subresource: string | undefined;
  /** RFC 3339 in whole seconds, UTC. */
  readonly time: string;
}

/**
 * The object with managedFields as a write leaves them: the writer owns what it changed and its entry carries the time of
 * this write; no manager owns what it removed; the others keep the rest. A write that changed no field does not change them.
 */
export function recordUpdate(before: ApiObject | undefined, after: ApiObject, writer: FieldManager): ApiObject {
  const changes = compareFields(before, after);
  const changed = within(changes.changed, writer);
  const removed = within(changes.removed, writer);
  const entries = before?.metadata.managedFields ?? [];
  if (changed.size === 0 && removed.size === 0) return withManagedFields(after, entries);
  const own = entries.find((entry) => isEntryOf(entry, writer));
  const lost = union(changed, removed);
  const others = entries.filter((entry) => entry !== own).flatMap((entry) => narrowed(entry, lost));
  const owned = union(difference(own === undefined ? new Set() : fromFieldsV1(own.fieldsV1), removed), changed);
  // Removing something only takes fields away, so the writer's entry keeps its time then, as the API server has it.
  const time = changed.size > 0 || own === undefined ? writer.time : own.time;
  const mine = owned.size === 0 ? [] : [entryOf({ ...writer, time }, after.apiVersion, owned)];
  return withManagedFields(after, [...others, ...mine]);
}

/** A write to an object never owns its status, nor one to its status the rest of it but metadata. */
function within(fields: FieldSet, { subresource }: FieldManager): FieldSet {
  const foreign = subresource === "status" ? "f:spec" : "f:status";
  return new Set([...fields].filter((field) => !isWithin(field, foreign)));
}

/** Whether an entry belongs to this manager, operation and subresource: each such triple has one entry. */
export function isEntryOf(entry: ManagedFieldsEntry, { manager, operation, subresource }: FieldManager): boolean {
  return entry.manager === manager && entry.operation === operation && entry.subresource === subresource;
}

/** The entry without some fields; nothing where nothing is left. */
export function narrowed(entry: ManagedFieldsEntry, lost: FieldSet): readonly ManagedFieldsEntry[] {
  const owned = fromFieldsV1(entry.fieldsV1);
  const left = difference(owned, lost);
  if (left.size === owned.size) return [entry];
  return left.size === 0 ? [] : [{ ...entry, fieldsV1: toFieldsV1(left) }];
}

/** An entry of managedFields. */
export function entryOf(writer: FieldManager, apiVersion: string, owned: FieldSet): ManagedFieldsEntry {
  const { manager, operation, subresource, time } = writer;
  const entry = { manager, operation, apiVersion, time, fieldsType: "FieldsV1", fieldsV1: toFieldsV1(owned) } as const;
  return subresource === undefined ? entry : { ...entry, subresource };
}

/** The object with these managedFields; without the field where there are none. */
export function withManagedFields(object: ApiObject, entries: readonly ManagedFieldsEntry[]): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  if (entries.length === 0) return { ...object, metadata };
  return { ...object, metadata: { ...metadata, managedFields: entries } };
}

/** The object without managedFields, for comparing what it says. */
export function withoutManagedFields(object: ApiObject): ApiObject {
  return { ...object, metadata: without(object.metadata, "managedFields") as ApiObject["metadata"] };
}
