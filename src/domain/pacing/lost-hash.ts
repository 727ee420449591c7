import { findConfig, type Lookup } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload.ts";

/**
 * Reports whether another client removed or replaced the hash of a due workload, as far as the API shows: the workload has no
 * hash, or nothing that it reads has changed since its last rollout. A process that did not write the hash itself has no other
 * evidence. Returns false if an object is missing or regular expressions name objects: then that may be why it is due.
 */
export function hasLostHash(
  {
    references,
    peer,
    recordedHash,
    hashWrittenAt,
  }: Pick<Workload, "references" | "peer" | "recordedHash" | "hashWrittenAt">,
  lookup: Lookup,
): boolean {
  if (recordedHash === undefined) return true;
  if (peer !== undefined && peer.patterns.length > 0) return false;
  return references.every((reference) => {
    const config = findConfig(lookup, reference);
    return config !== undefined && (config.changedAt ?? 0) < hashWrittenAt;
  });
}
