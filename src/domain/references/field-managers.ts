import type { ObjectMeta } from "#kubernetes";
import { sharedString } from "../syntax/json.ts";

/** The field manager of Wave (https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers). */
export const fieldManager = "wave";

/** The field manager of the owner references and finalizers that Wave writes. Such a write is neither a rollout nor an edit. */
export const ownershipManager = "wave-owner-references";

/** The field manager of `kubectl rollout undo`. The other commands of kubectl have names of their own, such as `kubectl-edit`. */
export const kubectlUndoManager = "kubectl";

/** The field manager of annotations that Wave writes beside rollouts. Such a write is neither a rollout nor an edit. */
export const annotationManager = "wave-annotations";

/** The field manager of recorded configuration. A recording replaces no Pod, so it is neither a rollout nor an edit. */
export const recordManager = "wave-recorded-config";

/** The field managers of Wave whose writes are neither rollouts nor edits. */
const quietManagers: readonly (string | undefined)[] = [ownershipManager, annotationManager, recordManager];

/** The metadata that record who wrote an object. */
type WriteMetadata = Pick<ObjectMeta, "managedFields" | "creationTimestamp">;

/** Returns a time of the Kubernetes API (RFC 3339) in seconds since the epoch; 0 if the text is not a time. */
export function epochSeconds(time: string | undefined): number {
  const ms = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return ms > 0 ? Math.floor(ms / 1000) : 0;
}

/**
 * Returns when Wave last changed a workload, and when Wave last wrote a hash or recorded configuration, in seconds since the epoch, and which other field manager changed it last, and when another one
 * changed its pod template, which is at `template`. A time is 0 if none of the fields that were written is left. Ignores the status. The
 * entry of a field manager has the time of its last change.
 */
export function lastWriters(
  { managedFields }: WriteMetadata,
  template: string,
): {
  readonly byWaveAt: number;
  readonly hashWrittenAt: number;
  readonly editedBy: string | undefined;
  readonly templateEditedAt: number;
} {
  const templateFields = template.split("/").slice(1);
  let byWaveAt = 0;
  let recordedAt = 0;
  let others = -1;
  let editedBy: string | undefined;
  let templateEditedAt = 0;
  for (const { manager, subresource, time, fieldsV1 } of managedFields ?? []) {
    if (subresource === "status") continue;
    const at = epochSeconds(time);
    if (manager === recordManager) recordedAt = Math.max(recordedAt, at);
    if (quietManagers.includes(manager)) continue;
    if (manager === fieldManager) byWaveAt = Math.max(byWaveAt, at);
    else if (manager && (at > others || (at === others && manager === kubectlUndoManager)))
      [others, editedBy] = [at, manager];
    if (manager !== fieldManager && at > templateEditedAt && hasFields(fieldsV1, templateFields)) templateEditedAt = at;
  }
  const hashWrittenAt = Math.max(byWaveAt, recordedAt);
  return { byWaveAt, hashWrittenAt, editedBy: editedBy && sharedString(editedBy), templateEditedAt };
}

/** Reports whether the fields of a manager (https://kubernetes.io/docs/reference/using-api/server-side-apply/) include some at a path. */
function hasFields(fieldsV1: unknown, path: readonly string[]): boolean {
  let fields = fieldsV1;
  for (const name of path) fields = (fields as Readonly<Record<string, unknown>> | null | undefined)?.[`f:${name}`];
  return fields !== undefined;
}

/** Reports whether a client wrote a field. `path` has the names of the fields from the object on. A binding of a Pod is no such write. */
export function hasManagedField({ managedFields }: WriteMetadata, path: readonly string[]): boolean {
  return (managedFields ?? []).some(({ fieldsV1 }) => hasFields(fieldsV1, path));
}

/**
 * Reports whether Wave wrote the value of a field: a change by another client ends the ownership of Wave. `path` has the names of the fields
 * from the object on.
 */
export function isWrittenByWave({ managedFields }: WriteMetadata, path: readonly string[]): boolean {
  return (managedFields ?? []).some(({ manager, fieldsV1 }) => manager === fieldManager && hasFields(fieldsV1, path));
}

/**
 * Returns when an object was last changed, in seconds since the epoch; its creation time if it never was; 0 if unknown. Ignores
 * writes of owner references and of annotations by Wave.
 */
export function lastWrittenAt({ managedFields, creationTimestamp }: WriteMetadata): number {
  const others = (managedFields ?? []).filter(({ manager }) => !quietManagers.includes(manager));
  return latestOf(others) || epochSeconds(creationTimestamp);
}

/**
 * Returns the same as {@link lastWrittenAt}, but ignores managers that wrote only labels and annotations, such as a hold. Large
 * objects do not record who wrote which field. In that case the function includes every manager.
 */
export function contentWrittenAt(metadata: WriteMetadata): number {
  return lastWrittenAt({ ...metadata, managedFields: contentEntries(metadata) });
}

/**
 * Returns when the content of an object was last edited after its creation, in seconds since the epoch; undefined if it never was. An edit
 * by the client that created the object, in the second of the creation, is not shown by the API.
 */
export function contentEditedAt(metadata: WriteMetadata): number | undefined {
  const entries = contentEntries(metadata);
  const last = latestOf(entries);
  const created = epochSeconds(metadata.creationTimestamp);
  return created > 0 && (last > created || (last === created && entries.length > 1)) ? last : undefined;
}

/** Returns the field manager that changed the content of an object last, by the same entries; undefined if the object does not record it. */
export function contentEditedBy(metadata: WriteMetadata): string | undefined {
  const manager = lastContentEntry(metadata)?.entry.manager;
  return manager && sharedString(manager);
}

/**
 * Returns the key that the last edit of the content of an object changed, if that follows from the fields of its manager: the manager did not
 * create the content and has changed no other key. Otherwise undefined. `since` is the time of the edit of another manager before it, in seconds
 * since the epoch: after it, no other key was changed.
 */
export function contentEditedKey(
  metadata: WriteMetadata,
): { readonly name: string; readonly since: number } | undefined {
  const { entry, before } = lastContentEntry(metadata) ?? {};
  if (entry?.operation !== "Update" || before === undefined) return undefined;
  const fields = (entry.fieldsV1 ?? {}) as Readonly<Record<string, object | undefined>>;
  const keys = ["f:data", "f:binaryData"].flatMap((field) => Object.keys(fields[field] ?? {}));
  const [only, ...others] = keys.flatMap((key) => (key.startsWith("f:") ? [key.slice(2)] : []));
  return only === undefined || others.length > 0 ? undefined : { name: sharedString(only), since: before };
}

/** Returns the entry of the last edit of the content, and the time of the last one of another manager. */
function lastContentEntry(metadata: WriteMetadata) {
  let last: { readonly at: number; readonly entry: ReturnType<typeof contentEntries>[number] } | undefined;
  let before: number | undefined;
  for (const entry of contentEntries(metadata)) {
    const at = epochSeconds(entry.time);
    const isLast = last === undefined || at >= last.at;
    const other = isLast ? last?.at : at;
    if (other !== undefined) before = Math.max(before ?? 0, other);
    if (isLast) last = { at, entry };
  }
  return last && { entry: last.entry, before };
}

function contentEntries({ managedFields }: WriteMetadata): NonNullable<WriteMetadata["managedFields"]> {
  return (managedFields ?? []).filter(({ fieldsV1 }) => {
    const fields = Object.keys(fieldsV1 ?? {});
    return fields.length === 0 || fields.some((field) => field !== "f:metadata");
  });
}

function latestOf(entries: NonNullable<WriteMetadata["managedFields"]>): number {
  return entries.reduce((latest, { time }) => Math.max(latest, epochSeconds(time)), 0);
}
