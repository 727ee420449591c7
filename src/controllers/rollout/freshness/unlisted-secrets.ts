import type { Caches } from "../../../cache/caches.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import type { Lookup, RolloutPlan } from "../../../domain/plan/plan.ts";
import { type ConfigName, configKey } from "../../../domain/references/references.ts";
import { isDnsSubdomain } from "../../../domain/syntax/names.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Leadership } from "../../../runtime/write-permits.ts";
import type { ReconcileOutcome } from "../memory/outcome.ts";
import type { Findings, Writable } from "../memory/workload-memory.ts";
import { type LiveReads, readFailure } from "./live-reads.ts";

/** If more Secrets are missing, they are not read: no workload has this many Helm releases. */
const maxUnlisted = 8;
/** Secrets that did not exist are not read again before this time, in milliseconds. */
const readAgainAfterMs = 60_000;

/** What {@link readUnlisted} needs. */
export interface UnlistedOptions {
  readonly caches: Pick<Caches, "lookup">;
  readonly clock: Clock;
  readonly live: Pick<LiveReads, "exist">;
  readonly leadership: Pick<Leadership, "abort">;
}

/**
 * Reads the missing Secrets that may exist although the lists omit them. Returns "allExist" if all of them exist, "none" if
 * there are none or one is missing, or how the run ends if the reads fail.
 */
export async function readUnlisted(
  findings: Writable<Findings>,
  workload: Workload,
  plan: RolloutPlan,
  { caches, clock, live, leadership }: UnlistedOptions,
): Promise<"allExist" | "none" | Extract<ReconcileOutcome, { readonly type: "stopped" | "refused" | "unavailable" }>> {
  const objects = possiblyUnlisted(findings, workload, plan, caches.lookup, clock.monotonic());
  if (objects.length === 0) return "none";
  try {
    const exist = await live.exist(objects);
    if (exist) findings.confirmedMissing = undefined;
    return exist ? "allExist" : "none";
  } catch (error) {
    findings.confirmedMissing = undefined;
    if (leadership.abort.aborted) return { type: "stopped" };
    return { ...readFailure(error, workload), workload };
  }
}

/**
 * Returns the missing Secrets that may exist, because lists omit them (`withoutHelmReleases`). Empty if anything else is
 * missing too, or if the Secrets were read recently and were missing.
 */
function possiblyUnlisted(
  findings: Writable<Pick<Findings, "confirmedMissing">>,
  { namespace }: Workload,
  plan: RolloutPlan,
  cached: Lookup,
  now: number,
): readonly ConfigName[] {
  if (plan.outcome !== "waiting" || plan.missing.length > maxUnlisted) return [];
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
  const { confirmedMissing } = findings;
  if (!all || (confirmedMissing?.names === names && now < confirmedMissing.untilMonotonic)) return [];
  findings.confirmedMissing = { names, untilMonotonic: now + readAgainAfterMs };
  return objects;
}
