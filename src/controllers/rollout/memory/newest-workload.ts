import type { Workload } from "../../../domain/model/workload.ts";
import type { Findings, NewerThanCache, Writable } from "./workload-memory.ts";

/** As in client-go's ControllerExpectations: if a watch loses an event, Wave must not trust its memory for ever. */
const newerForMs = 30_000;

/**
 * Stores `newest`, which the API server returned while the cache held `cached`. A plan from the cache alone would write
 * the same hash again before the watch brings the first write.
 */
export function rememberNewest(findings: Writable<Findings>, cached: Workload, newest: Workload, now: number): void {
  findings.newerThanCache = { cached, newest, expiresAt: now + newerForMs };
}

/** Returns the newest known state of a workload whose cache entry is `cached`. */
export function newestOf(
  { newerThanCache: newer }: Pick<Findings, "newerThanCache">,
  cached: Workload,
  now: number,
): Workload {
  return newer !== undefined && isBehind(cached, newer) && now < newer.expiresAt ? newer.newest : cached;
}

/**
 * Reports whether the cache entry is older than `newest`. An entry that is the same object as before has seen no event.
 * Another one is behind only as long as its resource version is older: the generation does not show it if the hash is in
 * an annotation instead of the pod template, as for a Rollout that is restarted.
 */
function isBehind(cached: Workload, { cached: before, newest }: NewerThanCache): boolean {
  return cached === before || (cached.uid === newest.uid && cached.resourceVersion < newest.resourceVersion);
}

/** Returns the newest known state, as `newestOf`, and forgets a stored state that is not newer than the cache any more. */
export function takeNewest(findings: Writable<Findings>, cached: Workload, now: number): Workload {
  const newest = newestOf(findings, cached, now);
  if (newest === cached) findings.newerThanCache = undefined;
  return newest;
}
