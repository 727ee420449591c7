import { readLegacy } from "../../../cache/live/live-configs.ts";
import type { ConfigView } from "../../../domain/config/hash.ts";
import {
  legacyVerificationOf,
  needsLegacyVerification,
  withLegacyVerification,
} from "../../../domain/config/legacy-hash.ts";
import { objectsToRead } from "../../../domain/config/tracked-references.ts";
import { describeObject, type Lookup } from "../../../domain/config/view-of-references.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { ListedPods, Moment } from "../../../domain/pacing/moment.ts";
import { parsePins } from "../../../domain/pinning/pinned-lookup.ts";
import type { World } from "../../../domain/plan/decide.ts";
import { planRollout } from "../../../domain/plan/plan.ts";
import { earliest, type PodTimes } from "../../../domain/pods/pod-state.ts";
import { rulesFor } from "../../../domain/policy/rules.ts";
import { epochSeconds } from "../../../domain/references/field-managers.ts";
import { type ConfigName, configKey, type Reference } from "../../../domain/references/references.ts";
import { quoted } from "../../../domain/syntax/names.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import { editedAt, type PresentConfig, presentOf, type ReadConfig, type ReadConfigs } from "../read/configs.ts";
import type { FoundWorkload, ReadPods, RunningPod } from "../read/pods.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";
import { newPodsNow, rolloutProgressSince, statusProgressSince } from "../states/assess-state.ts";
import type { KubernetesReason } from "../states/state-rows.ts";
import type { WorkloadSnapshot } from "./workload-snapshot.ts";

/** Returns the lookup over the objects that were read. */
export function lookupIn(read: ReadConfigs): Lookup {
  return (kind, namespace, name) => presentOf(read.get(configKey({ kind, namespace, name })))?.config;
}

/** Reports whether an object could not be read, so that its existence is unknown. */
export function isUnread(found: ReadConfig | undefined): found is ReadConfig & { readonly error: string } {
  return found?.state === "forbidden" || found?.state === "unreadable";
}

/** Returns the references to objects whose state is known. */
export function readableReferences(references: readonly Reference[], read: ReadConfigs): readonly Reference[] {
  return references.filter((reference) => !isUnread(read.get(configKey(reference))));
}

/**
 * Returns the world of a workload at this moment, from the objects that could be read. A command does not know what only the running
 * controller has observed: it decides like a leader that has just started. `previous` is the configuration that the Pods run
 * with, if the caller knows it. `pods` show the progress and the failures of the last rollout, if the caller has read them, and `kubernetes` why none is created.
 */
export function worldOf(
  found: FoundWorkload,
  read: ReadConfigs,
  policy: KnownPolicy,
  now: number,
  {
    previous,
    pods,
    kubernetes = null,
  }: {
    readonly previous?: ConfigView | undefined;
    readonly pods?: ReadPods | undefined;
    readonly kubernetes?: KubernetesReason | null;
  } = {},
): World {
  const { object, workload } = found;
  const moment: Moment = {
    now,
    changes: changesSince(found, read, now),
    lastWrite: undefined,
    progressSince: statusProgressSince(object, workload),
    ...(pods && {
      advancedAt: rolloutProgressSince(object, workload, pods),
      newPods: newPodsNow(workload, { pods, kubernetes, now }),
      ...(pods.state === "read" && { pods: listedPods(pods.of(workload)) }),
    }),
  };
  const readable = { ...workload, references: readableReferences(workload.references, read) };
  return { workload: readable, lookup: lookupIn(read), rules: rulesFor(workload, policy), previous, moment };
}

/** Returns what the Pods of a workload show to {@link decide}. They were read with the objects, so none is missing that matters. */
function listedPods(pods: readonly RunningPod[]): ListedPods {
  const times = pods.reduce<PodTimes | undefined>((before, pod) => earliest(before, pod.times), undefined);
  return { times, listedUpTo: Number.POSITIVE_INFINITY };
}

/** How far the clock of the API server may be ahead of the local clock. */
const clocksDifferMs = 60_000;

/**
 * Returns when the configuration of a workload changed since its last rollout, from the API, to the second. Times in the future are
 * ignored: anyone who may edit the object can write them, and the workload would settle until then here, but not for Wave.
 */
function changesSince({ workload }: FoundWorkload, read: ReadConfigs, now: number): Moment["changes"] {
  const times = timesSinceRoll(workload, read, now, ({ config }) => config.changedAt);
  return times.length === 0 ? undefined : { first: Math.min(...times), last: Math.max(...times) };
}

/**
 * Returns since when a workload is due: the last change of its configuration since its last rollout, from the API. A hold or a
 * label on an object is no such change. In milliseconds since the epoch; undefined if the API does not show the time.
 */
export function dueSince({ object, workload }: FoundWorkload, read: ReadConfigs, now: number): number | undefined {
  const ofContent = timesSinceRoll(workload, read, now, editedAt);
  // An annotation alone makes an object relevant: it becomes shared, or is no longer ignored.
  const times =
    ofContent.length > 0 ? ofContent : timesSinceRoll(workload, read, now, ({ config }) => config.changedAt);
  // Before its first rollout, a workload is due at most since its creation.
  const madeAt = workload.hashWrittenAt === 0 ? epochSeconds(object.metadata?.creationTimestamp) * 1000 : 0;
  return Math.max(madeAt, ...times) || undefined;
}

/**
 * Returns the keys of the objects that changed since the last rollout of a workload. Returns all that it references if none of them
 * shows such a change: an object may have been deleted.
 */
export function changedSinceRollout({ references, hashWrittenAt }: Workload, read: ReadConfigs): ReadonlySet<string> {
  const keys = references.map(configKey);
  const changed = keys.filter((key) => {
    const found = presentOf(read.get(key));
    return found !== undefined && (editedAt(found) ?? 0) >= hashWrittenAt;
  });
  return new Set(changed.length === 0 ? keys : changed);
}

/** Returns the last change before the last rollout of a workload, as a sentence with object and editor; "" if no object shows one. */
export function describeLastChange({ references, hashWrittenAt, namespace }: Workload, read: ReadConfigs): string {
  let last: { readonly at: number; readonly text: string } | undefined;
  for (const reference of references) {
    const found = read.get(configKey(reference));
    if (found?.state !== "present") continue;
    const at = editedAt(found) ?? 0;
    if (at === 0 || at > hashWrittenAt || at <= (last?.at ?? 0)) continue;
    const by = found.editedBy === undefined ? "" : `, by ${quoted(found.editedBy)}`;
    last = { at, text: `The last change before this rollout was in ${describeObject(reference, namespace)}${by}` };
  }
  return last?.text ?? "";
}

function timesSinceRoll(
  { references, hashWrittenAt }: Workload,
  read: ReadConfigs,
  now: number,
  timeOf: (found: PresentConfig) => number | undefined,
): readonly number[] {
  return references.flatMap((reference) => {
    const found = presentOf(read.get(configKey(reference)));
    const time = found && timeOf(found);
    return time !== undefined && time >= hashWrittenAt && time * 1000 <= now + clocksDifferMs ? [time * 1000] : [];
  });
}

/** Returns what the plan of a workload depends on: what it references, and its pinned copies if its ConfigMaps were rolled back. */
export function planObjects(workload: Workload, policy: KnownPolicy): readonly ConfigName[] {
  const objects = objectsToRead(workload, rulesFor(workload, policy));
  const { namespace, rejected, pinned } = workload;
  const pins = rejected === undefined || pinned === undefined ? undefined : parsePins(pinned);
  if (pins === undefined) return objects;
  return [...objects, ...Array.from(pins.values(), (name) => ({ kind: "ConfigMap", namespace, name }) as const)];
}

/**
 * Verifies a hash that another controller recorded, as Wave does at start: recomputes the hash from the stored objects and compares
 * both. The values of the objects are dropped at once. If an object cannot be read, the result has a gap that gives the cause.
 */
export async function withVerifiedHash(
  client: Pick<ApiClient, "request">,
  snapshot: WorkloadSnapshot,
): Promise<WorkloadSnapshot> {
  const { found, read, gaps } = snapshot;
  const { workload } = found;
  if (!needsLegacyVerification(workload)) return snapshot;
  const policy = snapshot.policy;
  const signal = new AbortController().signal;
  try {
    const legacy = await readLegacy(workload, { client, policy, cached: lookupIn(read), signal });
    const plan = legacy && planRollout(legacy.workload, legacy.lookup, rulesFor(legacy.workload, policy));
    if (legacy === undefined || plan === undefined || !("view" in plan)) return snapshot;
    const verification = legacyVerificationOf(workload, plan.view, legacy.hash === workload.recordedHash);
    return { ...snapshot, found: { ...found, workload: withLegacyVerification(workload, verification) } };
  } catch (error) {
    return { ...snapshot, gaps: [...gaps, `The recorded hash could not be verified: ${errorText(error)}.`] };
  }
}
