import type { ObjectMeta } from "#kubernetes";
import { sharedString } from "../syntax/shared-string.ts";

/** The field manager of Wave (https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers). */
export const fieldManager = "wave";

/** The field manager of the owner references and finalizers that Wave writes. Such a write is neither a rollout nor an edit. */
export const ownershipManager = "wave-owner-references";

/** The metadata that record who wrote an object. */
type WriteMetadata = Pick<ObjectMeta, "managedFields" | "creationTimestamp">;

/** Returns a time of the Kubernetes API (RFC 3339) in seconds since the epoch; 0 if the text is not a time. */
export function epochSeconds(time: string | undefined): number {
  const ms = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return ms > 0 ? Math.floor(ms / 1000) : 0;
}

/**
 * Returns when Wave last changed an object, in seconds since the epoch, and which other field manager changed it last. The time is 0 if
 * none of the fields that Wave wrote is left. Ignores the status. The entry of a field manager has the time of its last change.
 */
export function lastWriters({ managedFields }: WriteMetadata): {
  readonly byWaveAt: number;
  readonly editedBy: string | undefined;
} {
  let byWaveAt = 0;
  let others = -1;
  let editedBy: string | undefined;
  for (const { manager, subresource, time } of managedFields ?? []) {
    if (subresource === "status" || manager === ownershipManager) continue;
    const at = epochSeconds(time);
    if (manager === fieldManager) byWaveAt = Math.max(byWaveAt, at);
    else if (manager && at > others) [others, editedBy] = [at, manager];
  }
  return { byWaveAt, editedBy: editedBy && sharedString(editedBy) };
}

/**
 * Returns when an object was last changed, in seconds since the epoch; its creation time if it never was; 0 if unknown. Ignores
 * writes of owner references by Wave.
 */
export function lastWrittenAt({ managedFields, creationTimestamp }: WriteMetadata): number {
  const others = (managedFields ?? []).filter(({ manager }) => manager !== ownershipManager);
  return latestOf(others) || epochSeconds(creationTimestamp);
}

/**
 * Returns the same as {@link lastWrittenAt}, but ignores managers that wrote only labels and annotations, such as a hold. Large
 * objects do not record who wrote which field. In that case the function includes every manager.
 */
export function contentWrittenAt(metadata: WriteMetadata): number {
  return lastWrittenAt({ ...metadata, managedFields: contentEntries(metadata) });
}

/** Returns the field manager that changed the content of an object last, by the same entries; undefined if the object does not record it. */
export function contentEditedBy(metadata: WriteMetadata): string | undefined {
  const inOrder = contentEntries(metadata).toSorted((a, b) => epochSeconds(a.time) - epochSeconds(b.time));
  return inOrder.at(-1)?.manager;
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
