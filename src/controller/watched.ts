import type { Caches } from "../cache/caches.ts";
import { isDnsSubdomain } from "../rollout/dns-name.ts";
import type { Lookup, RolloutPlan } from "../rollout/plan.ts";
import { type ConfigName, configKey } from "../rollout/references.ts";
import type { Workload } from "../rollout/workload.ts";
import type { WorkloadRecord } from "./workload-record.ts";

/**
 * The rule by which nothing newer is undone, docs/adr/0009-newer-than-known.md has its reasons: a plan that was made from
 * the caches is written as it is only where these were seen to stand for what is recorded, and what changed since did so
 * after the workload. Whatever else is recorded may be of configuration that the caches have not heard of yet.
 */
export function isWatched(
  record: WorkloadRecord,
  workload: Workload,
  plan: RolloutPlan,
  heardUpTo: Caches["heardUpTo"],
): boolean {
  if (plan.outcome !== "roll" || !hasCaughtUp(record, workload)) return false;
  // Where it is not remembered what changed it may be anything.
  const changed = plan.changed ?? [...workload.references, ...matchedKinds(workload)];
  return changed.every(({ kind, namespace }) => heardUpTo(kind, namespace) > workload.resourceVersion);
}

/** Where regular expressions name objects. */
function matchedKinds({ foreign, namespace }: Workload): readonly Pick<ConfigName, "kind" | "namespace">[] {
  return foreign?.patterns.map(({ kind }) => ({ kind, namespace })) ?? [];
}

/** Whether the caches were seen to stand for what is recorded, so that what differs from it has changed since. */
export function hasCaughtUp({ caughtUpWith }: Pick<WorkloadRecord, "caughtUpWith">, workload: Workload): boolean {
  return caughtUpWith === recordedOn(workload);
}

/** Notes what `plan`, made from the caches, says of them: that they have caught up with what is recorded. */
export function noteCaughtUp(record: WorkloadRecord, workload: Workload, plan: RolloutPlan): void {
  if (plan.outcome === "unchanged") record.caughtUpWith = recordedOn(workload);
}

/** Notes a write that the caches stand for. */
export function noteWritten(record: WorkloadRecord, after: Workload): void {
  record.caughtUpWith = recordedOn(after);
}

/** What says on a workload which configuration its Pods see. */
function recordedOn({ uid, recordedHash = "", baseline = "" }: Workload): string {
  return `${uid} ${recordedHash} ${baseline}`;
}

/** More of them are not looked for: no workload has so many releases of Helm. */
const mostLeftOut = 8;
/** What was found missing is not looked for again before, in milliseconds. */
const lookAgainMs = 60_000;

/**
 * What a workload waits for that may exist all the same, because the lists leave it out (`withoutHelmReleases`): empty
 * where it waits for anything else besides. A Secret that was looked for lately, and was missing, is missing.
 */
export function perhapsLeftOut(
  record: WorkloadRecord,
  { namespace }: Workload,
  plan: RolloutPlan,
  cached: Lookup,
  now: number,
): readonly ConfigName[] {
  if (plan.outcome !== "waiting" || plan.missing.length > mostLeftOut) return [];
  const { missing } = plan;
  const all = missing.every(
    (object) =>
      object.kind === "Secret" &&
      isDnsSubdomain(object.name) &&
      object.namespace === namespace &&
      cached(object.kind, object.namespace, object.name) === undefined,
  );
  const objects = [...new Map(missing.map((object) => [configKey(object), object])).values()];
  const names = objects.map(({ name }) => name).join(" ");
  if (!all || (record.lookedFor?.names === names && now < record.lookedFor.until)) return [];
  record.lookedFor = { names, until: now + lookAgainMs };
  return objects;
}
