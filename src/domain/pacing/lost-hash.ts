import type { Lookup } from "../config/view.ts";
import type { Workload } from "../model/workload.ts";

/**
 * Whether somebody took away the hash of a workload that is due, or wrote another one, as far as the API tells: it has none, or nothing
 * that it reads has changed since its last roll. Who did not write it himself has nothing else to go by; where an object is missing, or
 * expressions name some, that may be why it is due.
 */
export function hasLostItsHash(
  {
    references,
    foreign,
    recordedHash,
    rolledAt,
  }: Pick<Workload, "references" | "foreign" | "recordedHash" | "rolledAt">,
  lookup: Lookup,
): boolean {
  if (recordedHash === undefined) return true;
  if (foreign !== undefined && foreign.patterns.length > 0) return false;
  return references.every(({ kind, namespace, name }) => {
    const config = lookup(kind, namespace, name);
    return config !== undefined && (config.changedAt ?? 0) < rolledAt;
  });
}
