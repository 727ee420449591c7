import type { ConfigView } from "../../domain/config/hash.ts";
import type { Lookup } from "../../domain/config/view.ts";
import type { Workload } from "../../domain/model/workload.ts";
import type { Moment } from "../../domain/pacing/moment.ts";
import { planRollout, type RolloutPlan } from "../../domain/plan/plan.ts";
import { secondsOf } from "../../domain/references/field-managers.ts";
import { configKey, type Reference } from "../../domain/references/references.ts";
import { type KnownPolicy, policyOf } from "./inherited-flags.ts";
import type { ReadConfig, ReadConfigs } from "./read-configs.ts";
import type { FoundWorkload } from "./read-workloads.ts";
import { statusProgressSince } from "./workload-state.ts";

/** What was read, for `planRollout`. */
export function lookupIn(read: ReadConfigs): Lookup {
  return (kind, namespace, name) => {
    const found = read.get(configKey({ kind, namespace, name }));
    return found?.state === "present" ? found.config : undefined;
  };
}

/** Whether an object is there or not, but could not be read. */
export function isUnread(found: ReadConfig | undefined): found is ReadConfig & { readonly error: string } {
  return found?.state === "forbidden" || found?.state === "unreadable";
}

/** The references of a workload to what could be read. */
export function readableReferences(references: readonly Reference[], read: ReadConfigs): readonly Reference[] {
  return references.filter((reference) => !isUnread(read.get(configKey(reference))));
}

/**
 * What Wave does with a workload now, by `planRollout`, as far as it could be read. What only the process that runs has seen, such
 * as how often something undid its writes, is not known here; `seen` is what its Pods see, where whoever asks knows that.
 */
export function planLive(
  found: FoundWorkload,
  read: ReadConfigs,
  policy: KnownPolicy,
  now: number,
  batch: Moment["batch"],
  seen?: ConfigView,
): RolloutPlan {
  const { object, workload } = found;
  const moment: Moment = {
    now,
    changes: changesSince(found, read, now),
    lastWrite: undefined,
    progressSince: statusProgressSince(object, workload),
    batch: policy.pacing.maxConcurrent === 0 ? undefined : batch,
  };
  const readable = { ...workload, references: readableReferences(workload.references, read) };
  return planRollout(readable, lookupIn(read), policyOf(policy), seen, moment);
}

/** How far the clock of the API server may be ahead of this one. */
const clocksDifferMs = 60_000;

/**
 * When what a workload reads changed since its last roll, as the API tells it: to the second. A time in the future tells nothing, as
 * whoever may edit the object can write it: else it would settle until then here, and not for Wave.
 */
function changesSince({ workload }: FoundWorkload, read: ReadConfigs, now: number): Moment["changes"] {
  const times = timesSinceRoll(workload, read, now, ({ config }) => config.changedAt);
  return times.length === 0 ? undefined : { first: Math.min(...times), last: Math.max(...times) };
}

/**
 * Since when a workload waits for a roll: when something that it reads last changed after its Pods were made, as far as
 * the API tells. That somebody held or labelled an object is no such change. Milliseconds since the epoch; undefined
 * where nobody knows.
 */
export function dueSince({ object, workload }: FoundWorkload, read: ReadConfigs, now: number): number | undefined {
  const ofContent = timesSinceRoll(workload, read, now, ({ config, contentAt }) => contentAt ?? config.changedAt);
  // An object that begins to count, because it is shared or no longer ignored, changes by an annotation alone.
  const times =
    ofContent.length > 0 ? ofContent : timesSinceRoll(workload, read, now, ({ config }) => config.changedAt);
  // Until its first roll, it cannot have waited for longer than it has been there.
  const madeAt = workload.rolledAt === 0 ? secondsOf(object.metadata?.creationTimestamp) * 1000 : 0;
  return Math.max(madeAt, ...times) || undefined;
}

function timesSinceRoll(
  { references, rolledAt }: Workload,
  read: ReadConfigs,
  now: number,
  timeOf: (found: Extract<ReadConfig, { readonly state: "present" }>) => number | undefined,
): readonly number[] {
  return references.flatMap((reference) => {
    const found = read.get(configKey(reference));
    const time = found?.state === "present" ? timeOf(found) : undefined;
    return time !== undefined && time >= rolledAt && time * 1000 <= now + clocksDifferMs ? [time * 1000] : [];
  });
}
