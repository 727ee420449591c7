import { describeObject } from "../../../domain/config/view-of-references.ts";
import { standardForm } from "../../../domain/model/kind-row.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import { parseWorkloadKey, workloadKey } from "../../../domain/model/workload-shape.ts";
import type { BatchedChange } from "../../../domain/pacing/batches.ts";
import type { Stage } from "../../../domain/pacing/stage.ts";
import { decide } from "../../../domain/plan/decide.ts";
import { podSelector } from "../../../domain/pods/pod-owner.ts";
import { type ConfigName, configKey, type StoredName } from "../../../domain/references/references.ts";
import { formatList } from "../../../domain/syntax/names.ts";
import { isForbidden } from "../../../kube/api/api-failure.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import type { Cluster } from "../../command/cluster-command.ts";
import { objectName, type WorkloadArgument } from "../../command/workload-argument.ts";
import { type ReadConfig, readConfigs, readManyConfigs } from "../read/configs.ts";
import { readNames, readNamespaces, withMatches } from "../read/namespaces.ts";
import { type FoundWorkload, listWorkloads, type ReadPods, readPods, readWorkload } from "../read/pods.ts";
import { mapBounded } from "../requests.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";
import { type BatchesNow, batchesNow, readRefusedPods } from "./batches-now.ts";
import { publishedOf, readLeaderView } from "./leader-view.ts";
import { isUnread, planObjects, withVerifiedHash, worldOf } from "./live-plan.ts";
import { placeIn, type WorkloadSnapshot, withAllReferences } from "./workload-snapshot.ts";

/**
 * Reads one workload and everything that its plan depends on. Throws a CommandFailure if the workload does not exist, and the error of
 * the API server if the workload cannot be read. Unreadable configuration objects are part of the result.
 */
export async function readWorkloadSnapshot(
  cluster: Cluster,
  argument: WorkloadArgument,
  namespace: string,
  flags: KnownPolicy,
): Promise<WorkloadSnapshot> {
  const { client } = cluster;
  const [object, namespaces] = await Promise.all([
    readWorkload(cluster, argument, namespace),
    readNamespaces(client, namespace, flags.compatibility),
  ]);
  const directiveContext = { ...flags, namespacePolicyOf: namespaces.of };
  const workload = toWorkload(argument.resource, object, directiveContext);
  const { namesMatching, failures, unreadFor } = await readNames(client, [workload]);
  const policy = { ...directiveContext, namesMatching };
  const found = { object: standardForm(argument.resource, object), workload: withMatches(workload, policy) };
  const [read, pods, refused] = await Promise.all([
    readConfigs(client, planObjects(withAllReferences(found, policy), policy), policy.compatibility),
    readPods(client, { namespace, labelSelector: podSelector(object.spec?.selector) }, flags.kinds),
    readRefusedPods(client, [found]),
  ]);
  const now = Date.now();
  const unnamed = unreadFor(workload);
  const isIncomplete = unnamed !== undefined || policy.keys.state === "unread" || read.values().some(isUnread);
  const view = isIncomplete && policy.lease ? await readLeaderView(client, policy.lease, now) : undefined;
  const stored = {
    found,
    published: view && publishedOf(found.workload, view, policy, now),
    unnamed,
    read,
    policy,
    pods,
    kubernetes: refused(found),
    now,
    batch: undefined,
    others: [],
    gaps: [...namespaces.gaps, ...failures],
  };
  const snapshot = await withVerifiedHash(client, stored);
  const { batched } = decide(worldOf(snapshot.found, read, policy, now, { pods, kubernetes: stored.kubernetes }));
  // Others are many, so they are read only if they can hold this workload.
  return batched === undefined ? snapshot : withOthers(cluster, snapshot, batched);
}

/** Adds the workloads of the namespace that may roll before this workload, as far as they can be listed. */
async function withOthers(
  { client }: Cluster,
  snapshot: WorkloadSnapshot,
  batched: readonly ConfigName[],
): Promise<WorkloadSnapshot> {
  const { workload } = snapshot.found;
  const { namespace } = workload;
  try {
    const { found: listed, failures } = await listWorkloads(client, { namespace }, snapshot.policy);
    const { policy, found, read, podsIn, refused } = await readForPlans(client, listed, snapshot.policy);
    const { now } = snapshot;
    const { holdOf, holderOf, groupOf } = batchesNow({ found, read, policy, now, podsIn, refused });
    const holder = holderOf(workload, batched);
    const others = holder === undefined ? [] : batchNotes(holder);
    const [first] = batched;
    const group = holder ?? (first && groupOf(first, namespace));
    const place = group && placeIn(group, workloadKey(workload), policy.pacing);
    return { ...snapshot, batch: holdOf, place, others, gaps: [...snapshot.gaps, ...failures.map(othersUnknown)] };
  } catch (error) {
    return { ...snapshot, gaps: [...snapshot.gaps, othersUnknown(errorText(error))] };
  }
}

function othersUnknown(why: string): string {
  return `Other workloads of the batch are unknown and may roll first: ${why}.`;
}

/** How many workloads a line names. */
const mostShown = 5;

/** The words for each stage of a workload with a change, in the order of the lines. */
const rows: readonly { readonly state: Stage["state"]; readonly text: string }[] = [
  { state: "failed", text: "failed in" },
  { state: "stuck", text: "is stuck in" },
  { state: "progressing", text: "is rolling out in" },
  { state: "soaking", text: "was just rolled out in" },
];

/** Returns one line for each stage of the group's workloads, so that a person sees which workloads the others wait for. */
function batchNotes({ object, namespace, members }: BatchedChange): readonly string[] {
  const described = describeObject(object, namespace);
  return rows.flatMap(({ state, text }) => {
    const names = members
      .filter(({ stage }) => stage.state === state)
      .map(({ key }) => objectName(parseWorkloadKey(key)));
    return names.length === 0 ? [] : [`${described} ${text} ${formatList(names.sort(), mostShown, String)}.`];
  });
}

/** Reads what the plans of listed workloads depend on, by lists only. */
async function readForPlans(client: ApiClient, listed: readonly FoundWorkload[], context: KnownPolicy) {
  const names = await readNames(
    client,
    listed.map(({ workload }) => workload),
  );
  const policy = { ...context, namesMatching: names.namesMatching };
  const found = listed.map(({ object, workload }) => {
    return { object, workload: withMatches(workload, policy), unnamed: names.unreadFor(workload) };
  });
  const namespaces = [...new Set(found.map(({ workload }) => workload.namespace))];
  const objects = found.flatMap(({ workload }) => planObjects(workload, policy));
  const podsOf = async (namespace: string) => [namespace, await readPods(client, { namespace }, policy.kinds)] as const;
  const [read, pods, refused] = await Promise.all([
    readManyConfigs(client, objects, policy.compatibility),
    mapBounded(namespaces, podsOf),
    readRefusedPods(client, found),
  ]);
  const byNamespace = new Map<string, ReadPods>(pods);
  const unread: ReadPods = { state: "unread", why: "Pods of this namespace were not listed" };
  const podsIn = (namespace: string) => byNamespace.get(namespace) ?? unread;
  return { policy, found, read, podsIn, refused, unreadNames: names.failures };
}

/** Workloads with everything that their plans depend on. */
export interface WorkloadSnapshots {
  readonly snapshots: readonly WorkloadSnapshot[];
  /** Kinds of workloads that could not be listed, one line each. */
  readonly failures: readonly string[];
  /** Other reads that failed and may matter, one line each. */
  readonly gaps: readonly string[];
  readonly batches: BatchesNow;
}

/**
 * Reads the workloads that opted in, of one namespace or of all, by lists only, so that the number of requests does not depend on the
 * number of workloads. A failed read becomes a failure or gap in the result; the rest is still read. A label selector limits the result
 * only: other workloads are read too, because they may belong to an earlier batch.
 */
export async function readWorkloadSnapshots(
  { client }: Cluster,
  namespace: string | undefined,
  labelSelector: string | undefined,
  flags: KnownPolicy,
): Promise<WorkloadSnapshots> {
  const namespaces = await readNamespaces(client, namespace, flags.compatibility);
  const directiveContext = { ...flags, namespacePolicyOf: namespaces.of };
  const all = listWorkloads(client, { namespace }, directiveContext);
  const selected =
    labelSelector === undefined ? all : listWorkloads(client, { namespace, labelSelector }, directiveContext);
  const [{ found: listed, failures }, matching] = await Promise.all([all, selected]);
  const { policy, found, read, podsIn, refused, unreadNames } = await readForPlans(client, listed, directiveContext);
  const now = Date.now();
  const lacksAll = policy.keys.state === "unread";
  const lacks = ({ unnamed, workload }: (typeof found)[number]) =>
    lacksAll || unnamed !== undefined || workload.references.some((each) => isUnread(read.get(configKey(each))));
  const incomplete = new Set(found.filter(lacks));
  const view = incomplete.size > 0 && policy.lease ? await readLeaderView(client, policy.lease, now) : undefined;
  const batches = batchesNow({ found, read, policy, now, podsIn, refused });
  const keys = new Set(matching.found.map(({ workload }) => workloadKey(workload)));
  const wanted = found.filter(({ workload }) => keys.has(workloadKey(workload)));
  const snapshots = await mapBounded(wanted, (each) =>
    withVerifiedHash(client, {
      found: each,
      published: view && incomplete.has(each) ? publishedOf(each.workload, view, policy, now) : undefined,
      unnamed: each.unnamed,
      read,
      policy,
      pods: podsIn(each.workload.namespace),
      kubernetes: refused(each),
      now,
      batch: batches.holdOf,
      others: [],
      gaps: [],
    }),
  );
  return {
    snapshots,
    failures: [...new Set([...failures, ...matching.failures])],
    gaps: [...namespaces.gaps, ...unreadNames],
    batches,
  };
}

/** A ConfigMap or Secret, and the workloads that may read it. */
export interface ObjectFacts {
  readonly object: StoredName;
  /** The object when it was read; undefined if the read did not return it. */
  readonly found: ReadConfig | undefined;
  /** The workloads that opted in. */
  readonly snapshots: readonly WorkloadSnapshot[];
  readonly others: readonly FoundWorkload[];
  readonly policy: KnownPolicy;
  /** The reads that failed, one line each. */
  readonly unread: readonly string[];
}

/**
 * Reads a ConfigMap or Secret and the workloads of its namespace, or of all namespaces if workloads of others may read it. Throws the error
 * of the API server if no workload can be listed.
 */
export async function readObjectFacts(cluster: Cluster, object: StoredName, flags: KnownPolicy): Promise<ObjectFacts> {
  const { client } = cluster;
  const found = (await readConfigs(client, [object], flags.compatibility)).get(configKey(object));
  const namespace = isReadElsewhere(found, flags) ? undefined : object.namespace;
  const { snapshots, failures, gaps } = await readSnapshots(cluster, namespace, object, flags);
  // Namespaces opt workloads in by annotation. Without a snapshot, they opt none in.
  const policy = snapshots[0]?.policy ?? flags;
  const isOut = ({ optIn }: FoundWorkload["workload"]) => optIn.state === "out";
  const others = await listWorkloads(client, { namespace: object.namespace }, policy, isOut);
  return { object, found, snapshots, others: others.found, policy, unread: [...failures, ...gaps] };
}

function isReadElsewhere(found: ReadConfig | undefined, { crossNamespace }: KnownPolicy): boolean {
  if (crossNamespace === "none") return false;
  return crossNamespace === "any" || (found?.state === "present" && found.config.sharedWith !== undefined);
}

/** Reads the workloads of the namespace alone if the user may not list those of all namespaces. */
async function readSnapshots(
  cluster: Cluster,
  namespace: string | undefined,
  object: StoredName,
  flags: KnownPolicy,
): Promise<WorkloadSnapshots> {
  try {
    return await readWorkloadSnapshots(cluster, namespace, undefined, flags);
  } catch (error) {
    if (namespace !== undefined || !isForbidden(error)) throw error;
    const own = await readWorkloadSnapshots(cluster, object.namespace, undefined, flags);
    return {
      ...own,
      gaps: [...own.gaps, `Workloads of other namespaces may read it, and are unknown: ${errorText(error)}`],
    };
  }
}
