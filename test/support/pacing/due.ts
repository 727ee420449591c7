import { type Config, digestOf } from "../../../src/domain/config/digest.ts";
import type { Workload } from "../../../src/domain/model/workload.ts";
import type { Moment } from "../../../src/domain/pacing/moment.ts";
import { planRollout, type RolloutPlan } from "../../../src/domain/plan/plan.ts";
import { type PacingFlags, unpaced } from "../../../src/domain/policy/pacing-flags.ts";
import { configMap, defaultPolicy, lookupOf, readsAll, type Wanted, workload } from "../domain/objects.ts";

/** What Wave is told unless it is told otherwise, for tests. */
export const defaultFlags: PacingFlags = {
  ...unpaced,
  settleMs: 1_000,
  settleMaxMs: 10_000,
  maxConcurrent: 50,
  soakMs: 10_000,
  haltAfterFailures: 3,
};

/** A time for tests, milliseconds since the epoch: a whole second. */
export const noon = Date.UTC(2026, 0, 1, 12);

/** A moment of which nothing is known, for tests. */
export function momentAt(now: number, known: Partial<Moment> = {}): Moment {
  return { now, changes: undefined, written: undefined, standsSince: now, batch: undefined, ...known };
}

const pod = readsAll("ConfigMap", "web");
const old = configMap("web", { a: "old" });

/** A config as it was changed at a time, seconds since the epoch. */
export function changedAt(config: Config, seconds: number): Config {
  return { ...config, changedAt: seconds };
}

/** A workload that is complete with the ConfigMap "web" as it was before, for tests. */
export function outdated(known: Partial<Workload> = {}, wanted: Wanted = {}): Workload {
  const plan = planRollout(workload({ pod, ...wanted }), lookupOf(old), defaultPolicy);
  if (!("hash" in plan)) throw new Error(`${plan.outcome}: ${digestOf(old, "a")}`);
  const templateAnnotations = { "wave.pusher.com/config-hash": plan.hash };
  const progress = { state: "complete", since: undefined } as const;
  return { ...workload({ pod, templateAnnotations, ...wanted }), progress, ...known };
}

/** The plan of {@link outdated} at a moment, the ConfigMap being another one by now. */
export function planned(known: Partial<Workload>, moment: Moment, flags: Partial<PacingFlags> = {}): RolloutPlan {
  const policy = { ...defaultPolicy, pacing: { ...defaultFlags, ...flags } };
  const current = changedAt(configMap("web", { a: "new" }), noon / 1000);
  return planRollout(outdated(known), lookupOf(current), policy, undefined, moment);
}
