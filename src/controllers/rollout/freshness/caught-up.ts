import type { Caches } from "../../../cache/caches.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import type { Lookup, RolloutPlan } from "../../../domain/plan/plan.ts";
import { type ConfigName, configKey } from "../../../domain/references/references.ts";
import { isDnsSubdomain } from "../../../domain/syntax/dns-name.ts";
import type { WorkloadRecord } from "../record/workload-record.ts";

/**
 * Whether a plan that was made from the caches may be written as it is, so that nothing newer is undone. It may where
 * the caches were seen to stand for what is recorded, and each change since then came after the workload's own last
 * one. Any other recorded hash may be of configuration that the caches have not heard of yet:
 * docs/adr/0009-newer-than-known.md.
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
  if (plan.outcome === "current") record.caughtUpWith = recordedOn(workload);
}

/** Notes a write that the caches stand for. */
export function noteWritten(record: WorkloadRecord, after: Workload): void {
  record.caughtUpWith = recordedOn(after);
}

/** What says on a workload which configuration its Pods see. */
function recordedOn({ uid, recordedHash = "", recordedConfig = "" }: Workload): string {
  return `${uid} ${recordedHash} ${recordedConfig}`;
}

/** More of them are not looked for: no workload has so many releases of Helm. */
const mostLeftOut = 8;
/** What was found missing is not looked for again before, in milliseconds. */
const lookAgainMs = 60_000;

/**
 * The Secrets that a workload waits for although they may exist, because lists leave them out (`withoutHelmReleases`).
 * Empty where it waits for anything else as well, and where they were looked for lately and were missing.
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
