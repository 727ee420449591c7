import { configHash } from "../../domain/references/annotations.ts";
import type { Observer } from "./observer.ts";

/** A Deployment whose Pods all have the same hash. */
export interface RolledOutDeployment {
  readonly hash: string;
  readonly generation: number | undefined;
  readonly replicaSet: string;
  /** Names, sorted. */
  readonly pods: readonly string[];
}

/** Returns the hash on the pod template of a Deployment; undefined if there is none. */
export function hashOf(observer: Observer, deployment: string): string | undefined {
  return observer.deployment(deployment)?.spec?.template.metadata?.annotations?.[configHash];
}

/** Returns the Deployment when all its Pods have this hash and are available, as `kubectl rollout status` decides; undefined until then. */
export function rolledOut(observer: Observer, name: string, hash: string): RolledOutDeployment | undefined {
  const deployment = observer.deployment(name);
  const { replicas, updatedReplicas, availableReplicas, observedGeneration } = deployment?.status ?? {};
  const { generation } = deployment?.metadata ?? {};
  const wanted = deployment?.spec?.replicas;
  if (wanted === undefined || hashOf(observer, name) !== hash || observedGeneration !== generation) return undefined;
  if (replicas !== wanted || updatedReplicas !== wanted || availableReplicas !== wanted) return undefined;
  const replicaSet = replicaSetsOf(observer, name).find(
    ({ spec }) => spec?.template?.metadata?.annotations?.[configHash] === hash,
  );
  const pods = observer
    .pods()
    .filter(({ metadata }) => metadata.annotations?.[configHash] === hash && metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name)
    .sort();
  if (replicaSet === undefined || pods.length !== wanted) return undefined;
  return { hash, generation, replicaSet: replicaSet.metadata.name, pods };
}

/** Returns the ReplicaSets of a Deployment: one for each pod template that it had. */
export function replicaSetsOf(observer: Observer, deployment: string) {
  return observer
    .replicaSets()
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === deployment));
}

/** Returns the message of an Event with this reason on a Deployment, unless its resource version is in `seen`. */
export function eventOn(
  observer: Observer,
  deployment: string,
  reason: string,
  seen: ReadonlySet<string>,
): string | undefined {
  const event = observer
    .events()
    .find(
      (each) =>
        each.reason === reason && each.involvedObject.name === deployment && !seen.has(each.metadata.resourceVersion),
    );
  return event?.message;
}
