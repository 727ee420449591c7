import { type Config, digestOf } from "../../../src/domain/config/digest.ts";
import type { Workload } from "../../../src/domain/model/workload-shape.ts";
import type { Hold, RolloutPlan } from "../../../src/domain/outcomes/outcomes.ts";
import type { Moment } from "../../../src/domain/pacing/moment.ts";
import type { PacingFlags } from "../../../src/domain/policy/policy.ts";
import { decide, planRollout } from "../domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  unpaced,
  type WorkloadFixture,
  workload,
} from "../domain/objects.ts";

/** The default pacing flags of Wave, for tests. */
export const defaultFlags: PacingFlags = {
  ...unpaced,
  settleMs: 1_000,
  maxConcurrent: 50,
  soakMs: 10_000,
  haltAfterFailures: 3,
};

/** A fixed time for tests, milliseconds since the epoch: a whole second. */
export const noon = Date.UTC(2026, 0, 1, 12);

/** Returns a moment with no known facts, or with the given ones, for tests. */
export function momentAt(now: number, known: Partial<Moment> = {}): Moment {
  return { now, changes: undefined, lastWrite: undefined, progressSince: now, ...known };
}

const pod = readsAll("ConfigMap", "web");
const old = configMap("web", { a: "old" });

/** Returns a configuration object that changed at a time, seconds since the epoch. */
export function changedAt(config: Config, seconds: number): Config {
  return { ...config, changedAt: seconds };
}

/** Returns a complete workload that runs an old version of ConfigMap "web", for tests. */
export function outdated(known: Partial<Workload> = {}, wanted: WorkloadFixture = {}): Workload {
  const plan = planRollout(workload({ pod, ...wanted }), lookupOf(old), defaultPolicy);
  if (!("hash" in plan)) throw new Error(`${plan.outcome}: ${digestOf(old, "a")}`);
  const templateAnnotations = { "wave.pusher.com/config-hash": plan.hash };
  const progress = { state: "complete", since: undefined } as const;
  return { ...workload({ pod, templateAnnotations, ...wanted }), progress, ...known };
}

/** Returns the decision about {@link outdated} at a moment, after an edit of the ConfigMap. `batchHold`: the hold of the batches, default none. */
export function planned(
  known: Partial<Workload>,
  moment: Moment,
  flags: Partial<PacingFlags> = {},
  batchHold?: Hold,
): RolloutPlan {
  const policy = { ...defaultPolicy, pacing: { ...defaultFlags, ...flags } };
  const current = changedAt(configMap("web", { a: "new" }), noon / 1000);
  return decide({ workload: outdated(known), lookup: lookupOf(current), policy, moment, batchHold: () => batchHold });
}
