// Whether caches and memory are fresh enough to write from them, and what to read if they are not.
import type { Caches } from "../../../cache/cluster-cache.ts";
import { differsInStatusOnly } from "../../../domain/model/cached-workload.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import type { ConfigName } from "../../../domain/references/references.ts";
import type { Findings, NewerThanCache, Writable } from "../memory/workload-memory.ts";

/**
 * Reports whether a plan from the caches may be written without live reads, so that Wave reverts nothing newer. That is so
 * if the caches once matched the recorded hash, and each later change is newer than the last change of the workload. Any
 * other recorded hash may be of configuration that the caches have not received yet. A hash that another client wrote may be an old one, such
 * as after an undo, and an old cache matches it. Then everything that the workload reads must be newer than its last change:
 * contributing/adr/0009-stale-caches.md.
 */
export function areCachesFresh(
  findings: Pick<Findings, "caughtUpWith">,
  workload: Workload,
  plan: RolloutPlan,
  syncedUpTo: Caches["syncedUpTo"],
): boolean {
  if (plan.outcome !== "roll" || !hasCaughtUp(findings, workload)) return false;
  const isOwn = findings.caughtUpWith?.isOwn === true;
  // If the changes are not known, each reference may have changed.
  const changed = (isOwn ? plan.changed : undefined) ?? [...workload.references, ...kindsOfPatterns(workload)];
  return changed.every(({ kind, namespace }) => syncedUpTo(kind, namespace) > workload.resourceVersion);
}

/** Returns the kinds of which a workload names objects by regular expressions. */
function kindsOfPatterns({ peer, namespace }: Workload): readonly Pick<ConfigName, "kind" | "namespace">[] {
  return peer?.patterns.map(({ kind }) => ({ kind, namespace })) ?? [];
}

/** Reports whether the caches once matched what is recorded, so that a difference is a later change. */
export function hasCaughtUp({ caughtUpWith }: Pick<Findings, "caughtUpWith">, workload: Workload): boolean {
  if (caughtUpWith === undefined) return false;
  const { uid, hash, config } = caughtUpWith;
  return uid === workload.uid && hash === workload.recordedHash && config === workload.recordedConfig;
}

/** Stores that the caches match what is recorded, if `plan`, made from the caches, shows this. */
export function rememberCaughtUp(findings: Writable<Findings>, workload: Workload, plan: RolloutPlan): void {
  if (plan.outcome === "current" && !hasCaughtUp(findings, workload)) recordMatch(findings, workload, false);
}

/** Stores that the caches match a write of Wave. */
export function rememberOwnWrite(findings: Writable<Pick<Findings, "caughtUpWith">>, after: Workload): void {
  recordMatch(findings, after, true);
}

function recordMatch(
  findings: Writable<Pick<Findings, "caughtUpWith">>,
  { uid, recordedHash: hash, recordedConfig: config }: Workload,
  isOwn: boolean,
): void {
  // Only what is compared: the rest of a workload may be large.
  findings.caughtUpWith = { uid, hash, config, isOwn };
}

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
export function newestOf({ newerThanCache: newer }: Findings, cached: Workload, now: number): Workload {
  return newer !== undefined && isBehind(cached, newer) && now < newer.expiresAt ? newer.newest : cached;
}

/**
 * Reports whether the cache entry is older than `newest`. An entry that is the same object as before has seen no event.
 * Another one is behind only as long as its resource version is older: the generation does not show it if the hash is in
 * an annotation instead of the pod template, as for a Rollout that is restarted.
 */
function isBehind(cached: Workload, { cached: before, newest }: NewerThanCache): boolean {
  if (cached === before) return true;
  return (
    cached.uid === newest.uid && cached.resourceVersion < newest.resourceVersion && !differsInStatusOnly(cached, newest)
  );
}

/** Returns the newest known state, as `newestOf`, and forgets a stored state that is not newer than the cache any more. */
export function takeNewest(findings: Writable<Findings>, cached: Workload, now: number): Workload {
  const newest = newestOf(findings, cached, now);
  if (newest === cached) findings.newerThanCache = undefined;
  return newest;
}
