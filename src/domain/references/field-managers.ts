import type { ObjectMeta } from "kubernetes-types/meta/v1.d.ts";
import { sharedString } from "../syntax/shared-string.ts";

/** Who owns the fields that Wave writes (https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers). */
export const fieldManager = "wave";

/** Who owns the owner references and finalizers that Wave writes: these are no rolls, and no edits. */
export const ownershipManager = "wave-owner-references";

/** What an object says of who wrote it. */
type Written = Pick<ObjectMeta, "managedFields" | "creationTimestamp">;

/** A time of the API's (RFC 3339) in seconds since the epoch; 0 where it is none. */
export function secondsOf(time: string | undefined): number {
  const ms = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return ms > 0 ? Math.floor(ms / 1000) : 0;
}

/**
 * When Wave last changed something of an object, and who else did, its status apart: seconds since the epoch, 0 where
 * nothing of what Wave wrote is left. The entry of a field manager has the time of its last change.
 */
export function writersOf({ managedFields }: Written): {
  readonly byWaveAt: number;
  readonly editedBy: string | undefined;
} {
  let byWaveAt = 0;
  let others = -1;
  let editedBy: string | undefined;
  for (const { manager, subresource, time } of managedFields ?? []) {
    if (subresource === "status" || manager === ownershipManager) continue;
    const at = secondsOf(time);
    if (manager === fieldManager) byWaveAt = Math.max(byWaveAt, at);
    else if (manager && at > others) [others, editedBy] = [at, manager];
  }
  return { byWaveAt, editedBy: editedBy && sharedString(editedBy) };
}

/**
 * When anybody last changed something of an object but Wave its owners, else when it was created, seconds since the epoch;
 * 0: unknown.
 */
export function lastWrittenAt({ managedFields, creationTimestamp }: Written): number {
  const others = (managedFields ?? []).filter(({ manager }) => manager !== ownershipManager);
  return latestOf(others) || secondsOf(creationTimestamp);
}

/**
 * As {@link lastWrittenAt}, but a manager that has written nothing but labels and annotations, such as a hold, does not
 * count. Large objects do not tell who wrote what: there everybody counts.
 */
export function contentWrittenAt(written: Written): number {
  const ofContent = (written.managedFields ?? []).filter(({ fieldsV1 }) => {
    const fields = Object.keys(fieldsV1 ?? {});
    return fields.length === 0 || fields.some((field) => field !== "f:metadata");
  });
  return lastWrittenAt({ ...written, managedFields: ofContent });
}

function latestOf(entries: NonNullable<Written["managedFields"]>): number {
  return entries.reduce((latest, { time }) => Math.max(latest, secondsOf(time)), 0);
}
