import { configResources } from "../../../cache/live/live-configs.ts";
import { causeAnnotation } from "../../../domain/references/annotations.ts";
import { contentEditedAt, contentEditedBy } from "../../../domain/references/field-managers.ts";
import { configKey, type StoredKind } from "../../../domain/references/references.ts";
import { type KubeObject, metadataOnlyList, type Resource, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { readNamespaces } from "../read/namespaces.ts";
import { listWorkloads } from "../read/pods.ts";
import { inScope, type ListScope, listAll, mapBounded, tryRead } from "../requests.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";
import { readRunningWaves } from "../running-wave/running-wave.ts";
import type { ObjectEdit, RevisionCause, TimelineFacts } from "./timeline.ts";
import { leaderReason, readWaveEvents, type WaveEvent } from "./wave-events.ts";

/** What a timeline is made from, and one line for each read that failed. */
export interface ReadTimeline extends TimelineFacts {
  readonly gaps: readonly string[];
}

/** Reads what happened in one namespace or all: mostly metadata. Throws what {@link listWorkloads} throws if nothing can be listed. */
export async function readTimeline(
  client: ApiClient,
  namespace: string | undefined,
  policy: KnownPolicy,
): Promise<ReadTimeline> {
  const namespaces = await readNamespaces(client, namespace, policy.compatibility);
  const context = { ...policy, namespacePolicyOf: namespaces.of };
  const { found, failures } = await listWorkloads(client, { namespace }, context);
  const workloads = found.map(({ workload }) => workload);
  const gaps = [...failures, ...namespaces.gaps];
  const read = async <T>(what: string, list: () => Promise<readonly T[]>): Promise<readonly T[]> => {
    const result = await tryRead(`list ${what} ${inScope(namespace)}`, list);
    if ("read" in result) return result.read;
    gaps.push(`The timeline is incomplete: ${result.unread}.`);
    return [];
  };
  const metadataOnly = { namespace, accept: metadataOnlyList };
  const isRead = new Set(workloads.flatMap(({ references }) => references.map(configKey)));
  const [replicaSets, controllerRevisions, configMaps, secrets, events, leaders] = await Promise.all([
    read("replicasets", () => readCauses(client, resources.replicaSets, metadataOnly)),
    read("controllerrevisions", () => readCauses(client, resources.controllerRevisions, metadataOnly)),
    read("configmaps", () => readEdits(client, "ConfigMap", metadataOnly, isRead)),
    read("secrets", () => readEdits(client, "Secret", metadataOnly, isRead)),
    read("events", () => readWaveEvents(client, { namespace })),
    readLeaders(client),
  ]);
  return {
    workloads,
    revisions: [...replicaSets, ...controllerRevisions],
    edits: [...configMaps, ...secrets],
    events: [...events.filter(({ reason }) => reason !== leaderReason), ...leaders],
    gaps,
  };
}

function readCauses(client: ApiClient, resource: Resource, scope: ListScope): Promise<readonly RevisionCause[]> {
  return listAll<KubeObject, RevisionCause>(client, resource, scope, ({ metadata }) => {
    const cause = metadata.annotations?.[causeAnnotation];
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    return cause === undefined || owner === undefined ? undefined : { uid: owner.uid, cause };
  });
}

function readEdits(
  client: ApiClient,
  kind: StoredKind,
  scope: ListScope,
  isRead: ReadonlySet<string>,
): Promise<readonly ObjectEdit[]> {
  return listAll<KubeObject, ObjectEdit>(client, configResources[kind], scope, ({ metadata }) => {
    const object = { kind, namespace: metadata.namespace ?? "", name: metadata.name };
    if (!isRead.has(configKey(object))) return undefined;
    const at = contentEditedAt(metadata);
    return at === undefined ? undefined : { ...object, at: at * 1000, by: contentEditedBy(metadata) };
  });
}

/** Returns the Events about leaders in the namespaces in which Wave runs: any user may write Events elsewhere. None without permission to list them. */
async function readLeaders(client: ApiClient): Promise<readonly WaveEvent[]> {
  const waves = await readRunningWaves(client);
  if ("unread" in waves) return [];
  const namespaces = [...new Set(waves.map(({ namespace }) => namespace))];
  const read = await mapBounded(namespaces, (namespace) =>
    tryRead(`list events in ${namespace}`, () => readWaveEvents(client, { namespace, reason: leaderReason })),
  );
  return read.flatMap((each) => ("read" in each ? each.read : []));
}
