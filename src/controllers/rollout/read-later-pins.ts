import { workloadPath } from "../../cache/workloads/workload-resource.ts";
import type { Lookup } from "../../domain/config/view-of-references.ts";
import { toWorkloadIfValid, type Workload, type WorkloadObject } from "../../domain/model/workload.ts";
import { undoSince } from "../../domain/pinning/undo.ts";
import { podSelector } from "../../domain/pods/pod-selector.ts";
import { type ClusterPolicy, policyFor } from "../../domain/policy/cluster-policy.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { rolloutPolicyOf } from "../../domain/policy/rollout-policy.ts";
import { pinnedAnnotation } from "../../domain/references/annotations.ts";
import { epochSeconds, isWrittenByWave } from "../../domain/references/field-managers.ts";
import { valueAtPointer } from "../../domain/syntax/json-patch.ts";
import type { KubeList, KubeObject } from "../../kube/api/api-types.ts";
import { isForbidden, isNotFound } from "../../kube/api/errors.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { LiveReads } from "./freshness/live-reads.ts";
import type { SeenPins } from "./record/seen-pins.ts";

/** What {@link readLaterPins} needs. */
export interface LaterPinsOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly live: Pick<LiveReads, "lookup">;
  readonly policy: ClusterPolicy;
  readonly signal: AbortSignal;
}

/** The most revisions that are read, and that are compared. `revisionHistoryLimit` is 10 by default. */
const maxRead = 200;
const maxCompared = 10;

interface Revision extends Pick<SeenPins, "pinned" | "references"> {
  /** Seconds since the epoch. */
  readonly createdAt: number;
}

/**
 * Returns the pins that a workload had before an undo that no Wave has seen: those of a revision that was created after the first revision with
 * its pins, and that has the live content. An edit after that revision is a new change. Returns undefined without such a revision, without
 * permission to read revisions, if Wave itself wrote the pins, or if a person resumed the workload after its pod template was edited. Throws what
 * requests throw.
 */
export async function readLaterPins(
  workload: Workload,
  { client, live, policy, signal }: LaterPinsOptions,
): Promise<SeenPins | undefined> {
  const ofWorkload = policyFor(workload, policy);
  const { resumedAt } = rolloutPolicyOf(workload, ofWorkload);
  if (resumedAt !== undefined && resumedAt >= workload.templateEditedAt * 1_000) return undefined;
  if (workload.row.replicaSetLabel === undefined) return undefined;
  try {
    const object = await client.request<WorkloadObject>({ method: "GET", path: workloadPath(workload), signal });
    // A rollout to earlier content makes an earlier revision the current one, as an undo does.
    if (hasPinsOfWave(workload, object)) return undefined;
    const revisions = await readRevisions(workload, object, client, policy, signal);
    const own = revisions.filter(({ pinned }) => pinned === workload.pinned);
    // An edit of the pod template after the undo makes another revision with these pins.
    const since = Math.min(...own.map(({ createdAt }) => createdAt));
    const later = revisions
      .filter(({ createdAt, pinned }) => createdAt > since && pinned !== workload.pinned)
      .sort((a, b) => b.createdAt - a.createdAt)
      .slice(0, maxCompared);
    if (own.length === 0 || later.length === 0) return undefined;
    const lookup = await live.lookup(workload, [workload.pinned, ...later.map(({ pinned }) => pinned)]);
    const undone = later.find((revision) => isUndone(workload, revision, lookup, ofWorkload));
    if (undone === undefined) return undefined;
    const { pinned, references } = undone;
    return { uid: workload.uid, pinned, references, rejected: workload.rejected };
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * Reports whether the live content is what a later revision was rolled to. If a ConfigMap does not exist, the API does not tell since when: it
 * may have been made again and deleted again since that revision. Then it is a new change.
 */
function isUndone(workload: Workload, revision: Revision, lookup: Lookup, policy: Policy): boolean {
  const { createdAt, ...before } = revision;
  const undo = undoSince(workload, { ...before, rejected: workload.rejected }, lookup, policy);
  const isOlder = (name: string) => {
    const config = lookup("ConfigMap", workload.namespace, name);
    return config !== undefined && (config.changedAt ?? 0) <= createdAt;
  };
  return undo?.names.every(isOlder) ?? false;
}

/** Reports whether Wave wrote the pins of a workload: then it is no undo. `object` is the stored workload. */
export function hasPinsOfWave({ row }: Workload, { metadata = {} }: WorkloadObject): boolean {
  const template = row.template.split("/").slice(1);
  return isWrittenByWave(metadata, [...template, "metadata", "annotations", pinnedAnnotation]);
}

async function readRevisions(
  { row, namespace, uid }: Workload,
  object: WorkloadObject,
  client: Pick<ApiClient, "request">,
  policy: ClusterPolicy,
  signal: AbortSignal,
): Promise<readonly Revision[]> {
  const { spec } = object;
  const [resource, template] =
    row.replicaSetLabel === ""
      ? ([resources.controllerRevisions, "/data/spec/template"] as const)
      : ([resources.replicaSets, "/spec/template"] as const);
  const path = resourcePath(resource, { namespace });
  const labelSelector = podSelector(spec?.selector);
  const items: KubeObject[] = [];
  let next: string | undefined;
  do {
    const query = { labelSelector, limit: maxRead, continue: next };
    const page = await client.request<KubeList<KubeObject>>({ method: "GET", path, query, signal });
    items.push(...(page.items ?? []));
    // A page may have fewer objects than the limit.
    next = page.metadata.continue || undefined;
  } while (next !== undefined && items.length < maxRead);
  return items.flatMap((item) => {
    const { ownerReferences, creationTimestamp } = item.metadata;
    if (!ownerReferences?.some((owner) => owner.controller && owner.uid === uid)) return [];
    const ofRevision = { ...object, spec: { ...spec, template: valueAtPointer(item, template) } } as WorkloadObject;
    const earlier = toWorkloadIfValid({ ...row, template: "/spec/template" }, ofRevision, policy);
    if (earlier?.pinned === undefined) return [];
    const { pinned, references } = earlier;
    return [{ pinned, references, createdAt: epochSeconds(creationTimestamp) }];
  });
}
