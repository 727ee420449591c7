import type { AnyObject, Cluster } from "../control-plane/cluster.ts";

/** The copies of a namespace, and their uses, by name. */
export interface CopiesInUse {
  readonly copies: ReadonlySet<string>;
  /** The copies of Pods, of pod templates, and of revisions with Pods. */
  readonly used: ReadonlySet<string>;
  /** The copies of all revisions: `kubectl rollout undo` can return to them. */
  readonly revisions: ReadonlySet<string>;
}

type Json = Readonly<Record<string, unknown>>;

/** Reads the copies of a namespace after everything that uses them. It shares no code with Wave. */
export async function copiesInUse(cluster: Cluster, namespace: string): Promise<CopiesInUse> {
  const list = (resource: string) => cluster.list(`/apis/apps/v1/namespaces/${namespace}/${resource}`);
  const used = new Set<string>();
  const revisions = new Set<string>();
  const current = new Set<unknown>();
  for (const plural of ["deployments", "statefulsets", "daemonsets"]) {
    for (const object of await list(plural)) {
      for (const copy of pinsAt(object, "spec", "template")) used.add(copy);
      const { currentRevision, updateRevision } = (object.status ?? {}) as Json;
      for (const revision of [currentRevision, updateRevision]) current.add(revision);
    }
  }
  for (const object of await list("replicasets")) {
    const { replicas } = object.spec as { readonly replicas?: number };
    for (const copy of pinsAt(object, "spec", "template")) (replicas === 0 ? revisions : used).add(copy);
  }
  for (const object of await list("controllerrevisions")) {
    const pins = pinsAt(object, "data", "spec", "template");
    for (const copy of pins) (current.has(object.metadata.name) ? used : revisions).add(copy);
  }
  for (const copies of (await copiesOfPods(cluster, namespace)).values()) for (const copy of copies) used.add(copy);
  return { copies: new Set(await copyNames(cluster, namespace)), used, revisions: revisions.union(used) };
}

/** Returns the names of the copies that each Pod reads which is not being deleted, by the uid of the Pod. */
export async function copiesOfPods(
  cluster: Cluster,
  namespace: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const pods = await cluster.list(`/api/v1/namespaces/${namespace}/pods`);
  const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return new Map(alive.map((pod) => [pod.metadata.uid, pinsOf(pod)]));
}

/** Returns the names of the copies of a namespace. */
export async function copyNames(cluster: Cluster, namespace: string): Promise<readonly string[]> {
  const path = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=wave.pusher.com/pinned-copy=true`;
  return (await cluster.list(path)).map(({ metadata }) => metadata.name);
}

function pinsAt(object: AnyObject, ...path: readonly string[]): readonly string[] {
  const template = path.reduce<Json>((json, field) => json[field] as Json, object as unknown as Json);
  return pinsOf(template as unknown as AnyObject);
}

function pinsOf({ metadata }: Pick<AnyObject, "metadata">): readonly string[] {
  const { annotations } = metadata as { readonly annotations?: Readonly<Record<string, string>> };
  const text = annotations?.["wave.pusher.com/pinned"] ?? "";
  return text.split(",").flatMap((pin) => pin.split("=")[1] ?? []);
}
