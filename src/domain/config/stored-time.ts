import type { Config } from "./digest.ts";

/** An object before and after a change; undefined: it did not exist. */
export interface ConfigChange {
  readonly before: Pick<Config, "changedAt"> | undefined;
  readonly after: Pick<Config, "changedAt"> | undefined;
}

/**
 * Returns the time that the API has of a change, in seconds since the epoch; undefined if it has none. The API forgets a field manager, with
 * its time, when that has removed its last field. Then the object has the time of an earlier change.
 * See https://kubernetes.io/docs/reference/using-api/server-side-apply/
 */
export function storedTimeOf({ before, after }: ConfigChange): number | undefined {
  const changedAt = after?.changedAt;
  return changedAt !== undefined && changedAt > (before?.changedAt ?? 0) ? changedAt : undefined;
}
