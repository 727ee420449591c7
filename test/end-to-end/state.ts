import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";
import { type WorkloadKind, workloadPath } from "./objects.ts";

interface WorkloadState extends AnyObject {
  readonly spec: {
    readonly replicas?: number;
    readonly template: {
      readonly metadata: { readonly annotations?: Record<string, string> };
      readonly spec: { readonly schedulerName: string };
    };
  };
}

interface EventState extends AnyObject {
  readonly reason: string;
  readonly message: string;
  readonly type: string;
  readonly count?: number;
  readonly involvedObject: { readonly kind: string; readonly name: string };
  readonly source?: { readonly component?: string };
}

export type { EventState, WorkloadState };

/** Returns a workload from the API server. */
export function getWorkload(cluster: Cluster, namespace: string, kind: WorkloadKind, name: string) {
  return cluster.api<WorkloadState>("GET", workloadPath(namespace, kind, name));
}

/** Returns the hash in a pod template, or the one that Wave recorded beside it; undefined if there is no hash yet. */
export function hashInForce(
  { annotations }: AnyObject["metadata"],
  template: Pick<AnyObject["metadata"], "annotations">,
): string | undefined {
  const hash = template.annotations?.["wave.pusher.com/config-hash"];
  const [of, recorded] = annotations?.["wave.pusher.com/recorded-config"]?.split(" ") ?? [];
  return recorded !== undefined && of === (hash ?? "") ? recorded : hash;
}

/** Returns the hash of what the Pods of a workload read: see {@link hashInForce}. */
export async function recordedHash(cluster: Cluster, namespace: string, kind: WorkloadKind, name: string) {
  const { metadata, spec } = await getWorkload(cluster, namespace, kind, name);
  return hashInForce(metadata, spec.template.metadata);
}

/** Returns the hash in the pod template of a workload; undefined if Wave has not written one there. */
export async function templateHash(cluster: Cluster, namespace: string, kind: WorkloadKind, name: string) {
  const { spec } = await getWorkload(cluster, namespace, kind, name);
  return spec.template.metadata.annotations?.["wave.pusher.com/config-hash"];
}

/** Waits until a workload has its first hash in the pod template, and returns the hash. */
export function firstTemplateHash(cluster: Cluster, namespace: string, kind: WorkloadKind, name: string) {
  return until(`a hash in the pod template of ${kind} ${name}`, () => templateHash(cluster, namespace, kind, name));
}

/** Waits until a workload has a hash other than `before`, and returns the new hash. */
export function newHash(cluster: Cluster, namespace: string, kind: WorkloadKind, name: string, before?: string) {
  return until(`a new hash on ${kind} ${name}`, async () => {
    const hash = await recordedHash(cluster, namespace, kind, name);
    return hash === before ? undefined : hash;
  });
}

/** Returns the number of revisions of a workload: its ReplicaSets, or its ControllerRevisions. */
async function revisions(cluster: Cluster, namespace: string, kind: WorkloadKind, name: string) {
  const { metadata } = await getWorkload(cluster, namespace, kind, name);
  const plural = kind === "Deployment" ? "replicasets" : "controllerrevisions";
  const owned = await cluster.list(`/apis/apps/v1/namespaces/${namespace}/${plural}`);
  return owned.filter((object) => object.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid)).length;
}

/**
 * Waits until the controller of Kubernetes has observed the newest generation, and returns the number of revisions. A workload with a new
 * first hash has one or two revisions: Kubernetes creates one revision for two pod templates that follow each other quickly.
 */
export function settledRevisions(cluster: Cluster, namespace: string, kind: WorkloadKind, name: string) {
  return until(`${kind} ${name} to be seen`, async () => {
    const { metadata, status } = (await getWorkload(cluster, namespace, kind, name)) as WorkloadState & {
      status?: { observedGeneration?: number };
    };
    if (status?.observedGeneration !== metadata.generation) return undefined;
    return revisions(cluster, namespace, kind, name);
  });
}

/** Waits until the controller of Kubernetes has observed the newest generation and created `count` revisions. */
export function revisionsToBe(cluster: Cluster, namespace: string, kind: WorkloadKind, name: string, count: number) {
  return until(`${count} revisions of ${kind} ${name}`, async () =>
    (await settledRevisions(cluster, namespace, kind, name)) === count ? true : undefined,
  );
}

/** Returns the Events that Wave has written on a workload. */
export async function waveEvents(cluster: Cluster, namespace: string, name: string): Promise<EventState[]> {
  const events = (await cluster.list(`/api/v1/namespaces/${namespace}/events`)) as readonly EventState[];
  return events.filter(({ involvedObject, source }) => involvedObject.name === name && source?.component === "wave");
}
