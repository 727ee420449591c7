// This folder reads the revisions of workloads and compares their pinned copies by key. It decides nothing about rollouts.

import type { WorkloadObject, WorkloadRow } from "../../../domain/model/workload.ts";
import { type Cause, parseCause } from "../../../domain/pacing/cause.ts";
import { type Pins, parsePins } from "../../../domain/pinning/pins.ts";
import { type HashPlace, podHash } from "../../../domain/pods/pod-hash.ts";
import { podSelector } from "../../../domain/pods/pod-selector.ts";
import { causeAnnotation, pinnedAnnotation, rolledAtAnnotation } from "../../../domain/references/annotations.ts";
import { fieldsOf } from "../../../domain/syntax/unknown-fields.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { listAll } from "../requests/list-all.ts";

/** A revision of a workload that Kubernetes keeps, as a ReplicaSet or a ControllerRevision. */
export interface StoredRevision {
  /** The number that `kubectl rollout history` shows. */
  readonly revision: number;
  /** The name of the ReplicaSet or ControllerRevision. */
  readonly name: string;
  /** RFC 3339; undefined if unknown. */
  readonly createdAt: string | undefined;
  /** The hash in its pod template; undefined if there is none. */
  readonly hash: string | undefined;
  /** The raw annotation of its pod template with the pins; undefined if absent. */
  readonly pinned: string | undefined;
  /** The pins; undefined if there are none, or if they are malformed. */
  readonly pins: Pins | undefined;
  /** When and why Wave rolled the workload to its hash; undefined if Wave did not, or if that is not known. */
  readonly cause: Cause | undefined;
  /** The time of a rollout with an unchanged hash; undefined if there was none. */
  readonly rolledAt: string | undefined;
}

/** The annotations with the number of a ReplicaSet, of Deployments and of Argo Rollouts. */
const revisionAnnotations = ["deployment.kubernetes.io/revision", "rollout.argoproj.io/revision"];

/** Reports whether Kubernetes keeps revisions of a kind. The Pods of Jobs and CronJobs end by themselves. */
export function keepsRevisions({ replicaSetLabel }: Pick<WorkloadRow, "replicaSetLabel">): boolean {
  return replicaSetLabel !== undefined;
}

/**
 * Lists the revisions of a workload by their number, the oldest first. Throws what {@link ApiClient.stream} throws, for example without
 * permission to list ReplicaSets.
 */
export async function readRevisions(
  client: ApiClient,
  row: WorkloadRow,
  { metadata, spec }: WorkloadObject,
  workload: HashPlace,
): Promise<readonly StoredRevision[]> {
  if (!keepsRevisions(row)) return [];
  const { replicaSetLabel } = row;
  const resource = replicaSetLabel === "" ? resources.controllerRevisions : resources.replicaSets;
  const scope = { namespace: metadata?.namespace, labelSelector: podSelector(spec?.selector) };
  const found = await listAll<KubeObject, StoredRevision>(client, resource, scope, (object) => {
    const isOwned = object.metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === metadata?.uid);
    return isOwned ? toRevision(object, workload) : undefined;
  });
  return found.toSorted((a, b) => a.revision - b.revision);
}

function toRevision(object: KubeObject, workload: HashPlace): StoredRevision {
  const { name, creationTimestamp: createdAt, annotations = {} } = object.metadata;
  const { spec, data, revision } = fieldsOf(object);
  // A ControllerRevision has the fields of its workload that it keeps.
  const { template } = fieldsOf(spec ?? fieldsOf(data).spec);
  const written = fieldsOf(fieldsOf(fieldsOf(template).metadata).annotations);
  const text = (annotation: string) =>
    typeof written[annotation] === "string" ? (written[annotation] as string) : undefined;
  const pinned = text(pinnedAnnotation);
  const hash = podHash(written, workload);
  const number = revisionAnnotations.map((each) => annotations[each]).find((each) => each !== undefined) ?? revision;
  return {
    revision: Number(number) || 0,
    name,
    createdAt,
    hash,
    pinned,
    pins: pinned === undefined ? undefined : parsePins(pinned),
    cause: parseCause(hash, annotations[causeAnnotation]),
    rolledAt: text(rolledAtAnnotation),
  };
}
