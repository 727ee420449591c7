import type { Event } from "#kubernetes";
import { contentChangedAt } from "../../../domain/config/digest.ts";
import type { ConfigView } from "../../../domain/config/hash.ts";
import { type Workload, workloadKey } from "../../../domain/model/workload-shape.ts";
import type { BatchedChange, BatchHoldLookup } from "../../../domain/pacing/batches.ts";
import { type DerivedChange, holdingChange } from "../../../domain/pacing/derive-batches.ts";
import { decide } from "../../../domain/plan/decide.ts";
import { type PlannedWorkload, type StoredBatchesFacts, storedBatches } from "../../../domain/plan/stored-batches.ts";
import { desiredPods } from "../../../domain/pods/pod-owner.ts";
import { rulesFor } from "../../../domain/policy/rules.ts";
import { type ConfigName, configKey, parseConfigKey } from "../../../domain/references/references.ts";
import { fieldsOf, numberOf } from "../../../domain/syntax/json.ts";
import { type KubeObject, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { presentOf, type ReadConfigs } from "../read/configs.ts";
import type { FoundWorkload, ReadPods } from "../read/pods.ts";
import { listAll, mapBounded, tryRead } from "../requests.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";
import { newPodsNow, rolloutProgressSince } from "../states/assess-state.ts";
import { boundedReason, type KubernetesReason, kubernetesReasonOf } from "../states/state-rows.ts";
import { lookupIn, worldOf } from "./live-plan.ts";

interface BatchesNowFacts {
  /** All workloads of these namespaces that opted in. */
  readonly found: readonly FoundWorkload[];
  readonly read: ReadConfigs;
  readonly policy: KnownPolicy;
  readonly now: number;
  /** Returns the Pods of a namespace, which show when a rollout last made progress. */
  readonly podsIn?: (namespace: string) => ReadPods;
  /** Returns why Kubernetes cannot create Pods of a workload. Default: not known. */
  readonly refused?: RefusedPods;
  /** Returns the configuration that the Pods of a workload run with, if known: only differences from it are due. */
  readonly seen?: (workload: Workload) => ConfigView | undefined;
}

const unreadPods = (): ReadPods => ({ state: "unread", why: "Pods were not listed" });

/** The batches of these namespaces at this moment, from the API alone, as Wave derives them after a restart. */
export interface BatchesNow {
  /** Returns the hold of a workload by its batches; undefined if they admit it. */
  readonly holdOf: BatchHoldLookup;
  /** Returns the change whose batch holds a workload; undefined if no batch holds it. */
  readonly holderOf: (workload: Workload, changed: readonly ConfigName[]) => BatchedChange | undefined;
  /** Returns a change of an object with the workloads of the namespace that read it. */
  readonly groupOf: (object: ConfigName, namespace: string) => BatchedChange;
  /** Returns the changes in a namespace for which workloads are due, and those of these objects. */
  readonly changesIn: (namespace: string, also: readonly ConfigName[]) => readonly DerivedChange[];
}

/** Derives which workloads may roll now, from all workloads of each namespace. */
export function batchesNow(facts: BatchesNowFacts): BatchesNow {
  const byNamespace = Map.groupBy(facts.found, ({ workload }) => workload.namespace);
  const derived = new Map(
    [...byNamespace].map(([namespace, found]) => [namespace, batchesIn(namespace, found, facts)]),
  );
  const changeIn = (namespace: string, config: string) => derived.get(namespace)?.changeOf(config);
  const holding = (workload: Workload, changed: readonly ConfigName[]) => {
    const { namespace } = workload;
    const admissionOf = (config: string) => changeIn(namespace, config)?.admission;
    const config = holdingChange(workloadKey(workload), changed.map(configKey), admissionOf);
    return config === undefined ? undefined : changeIn(namespace, config);
  };
  return {
    holdOf: (workload, changed) => holding(workload, changed)?.admission.hold,
    holderOf: (workload, changed) => holding(workload, changed)?.change,
    groupOf: (object, namespace) =>
      changeIn(namespace, configKey(object))?.change ?? { object, namespace, members: [] },
    changesIn: (namespace, also) => derived.get(namespace)?.changes(also.map(configKey)) ?? [],
  };
}

interface ChangesOfNamespace {
  readonly changeOf: (config: string) => DerivedChange | undefined;
  readonly changes: (also: readonly string[]) => readonly DerivedChange[];
}

function batchesIn(
  namespace: string,
  found: readonly FoundWorkload[],
  { read, policy, now, podsIn = unreadPods, refused = () => null, seen }: BatchesNowFacts,
): ChangesOfNamespace {
  const pods = podsIn(namespace);
  const readers = new Map<string, string[]>();
  const workloads = new Map<string, PlannedWorkload>();
  for (const each of found) {
    const { object, workload } = each;
    const key = workloadKey(workload);
    for (const config of workload.references.map(configKey)) {
      const others = readers.get(config);
      if (others === undefined) readers.set(config, [key]);
      else others.push(key);
    }
    workloads.set(key, {
      workload,
      rules: rulesFor(workload, policy),
      plan: decide(worldOf(each, read, policy, now, { previous: seen?.(workload), pods, kubernetes: refused(each) })),
      observe: () => ({
        advancedAt: rolloutProgressSince(object, workload, pods),
        newPods: newPodsNow(workload, { pods, kubernetes: refused(each), now }),
      }),
    });
  }
  const derive = (limits: Pick<StoredBatchesFacts, "only" | "also">) =>
    storedBatches({
      ...{ namespace, workloads, flags: policy.pacing, now, lookup: lookupIn(read) },
      hashKeys: policy.hashKeys,
      ...limits,
      readersOf: (config) => readers.get(config) ?? [],
      changeOf: (config) => ({
        object: parseConfigKey(config),
        changedAt: changedAtOf(config, read) ?? now,
        seenAt: undefined,
      }),
    }).changes;
  const known = new Map(derive({}));
  return {
    changeOf: (config) => {
      if (!known.has(config)) for (const [, change] of derive({ only: config })) known.set(config, change);
      return known.get(config);
    },
    changes: (also) => [...(also.length === 0 ? known : derive({ also })).values()],
  };
}

function changedAtOf(config: string, read: ReadConfigs): number | undefined {
  const seconds = contentChangedAt(presentOf(read.get(config))?.config);
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Returns why Kubernetes cannot create Pods of a workload; null if it reports no failure. */
type RefusedPods = (found: FoundWorkload) => KubernetesReason | null;

/** The Event reason of the StatefulSet and DaemonSet controllers if the API server rejects a Pod. */
const reason = "FailedCreate";

/**
 * Reads why Kubernetes cannot create Pods: from conditions, and for StatefulSets and DaemonSets, which have no such conditions, from
 * Events. Events are listed only if a workload lacks Pods. Without permission to list Events, only conditions are used.
 */
export async function readRefusedPods(client: ApiClient, found: readonly FoundWorkload[]): Promise<RefusedPods> {
  const lacking = Map.groupBy(found.filter(lacksPods), ({ workload }) => workload.namespace);
  const newest = await mapBounded([...lacking], ([namespace, group]) => {
    const rolledAt = new Map(group.map(({ workload }) => [workload.uid, workload.rolledAt]));
    return tryRead(`list events in ${namespace}`, () => newestEvents(client, namespace, rolledAt));
  });
  const byUid = new Map(newest.flatMap((each) => ("read" in each ? [...each.read] : [])));
  return ({ object, workload }) => kubernetesReasonOf(object) ?? byUid.get(workload.uid) ?? null;
}

function lacksPods({ object }: FoundWorkload): boolean {
  const { currentNumberScheduled, currentRevision, replicas } = fieldsOf(object.status);
  const existing = currentRevision === undefined ? currentNumberScheduled : (replicas ?? 0);
  return (numberOf(existing) ?? Number.POSITIVE_INFINITY) < desiredPods(object);
}

/** Returns the newest failure of each workload since its last rollout; `rolledAt` is in seconds since the epoch. Older failures are over. */
async function newestEvents(
  client: ApiClient,
  namespace: string,
  rolledAt: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, KubernetesReason>> {
  const scope = { namespace, fieldSelector: `reason=${reason}` };
  const events = await listAll<KubeObject & Event, readonly [uid: string, at: number, message: string]>(
    client,
    resources.events,
    scope,
    ({ involvedObject: { uid = "" }, lastTimestamp, eventTime, message = "" }) => {
      const at = Date.parse(lastTimestamp ?? eventTime ?? "") / 1_000;
      const since = rolledAt.get(uid);
      return since !== undefined && at >= since ? [uid, at, message] : undefined;
    },
  );
  const inOrder = events.toSorted(([, a], [, b]) => a - b);
  return new Map(inOrder.map(([uid, , message]) => [uid, boundedReason(reason, message)]));
}
