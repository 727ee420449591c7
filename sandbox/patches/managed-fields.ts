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
 * Returns the object with the managedFields after a write. The writer owns the fields that it changed, no manager owns the fields that
 * it removed, and the other managers keep the rest. If it changed a field, the entry of the writer gets the time of this write.
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

/** Reports whether an entry belongs to this manager, operation and subresource. An object has one entry for each such combination. */
export function isEntryOf(entry: ManagedFieldsEntry, { manager, operation, subresource }: FieldManager): boolean {
  return entry.manager === manager && entry.operation === operation && entry.subresource === subresource;
}

/** Returns the entry without the lost fields; no entry if no field is left. */
export function narrowed(entry: ManagedFieldsEntry, lost: FieldSet): readonly ManagedFieldsEntry[] {
  const owned = fromFieldsV1(entry.fieldsV1);
  const left = difference(owned, lost);
  if (left.size === owned.size) return [entry];
  return left.size === 0 ? [] : [{ ...entry, fieldsV1: toFieldsV1(left) }];
}

/** Returns an entry of managedFields for the fields that a writer owns. */
export function entryOf(writer: FieldManager, apiVersion: string, owned: FieldSet): ManagedFieldsEntry {
  const { manager, operation, subresource, time } = writer;
  const entry = { manager, operation, apiVersion, time, fieldsType: "FieldsV1", fieldsV1: toFieldsV1(owned) } as const;
  return subresource === undefined ? entry : { ...entry, subresource };
}

/** Returns the object with these managedFields; without the field if there are no entries. */
export function withManagedFields(object: ApiObject, entries: readonly ManagedFieldsEntry[]): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  if (entries.length === 0) return { ...object, metadata };
  return { ...object, metadata: { ...metadata, managedFields: entries } };
}

/** Returns the object without managedFields, so that callers compare only its content. */
export function withoutManagedFields(object: ApiObject): ApiObject {
  return { ...object, metadata: without(object.metadata, "managedFields") as ApiObject["metadata"] };
}
