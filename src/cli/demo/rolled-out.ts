import { recordedConfigFor } from "../../domain/config/recorded-config.ts";
import { configHash, recordedConfigAnnotation } from "../../domain/references/annotations.ts";
import type { Observer } from "./observer.ts";

/** A Deployment whose Pods all have the same hash. */
export interface RolledOutDeployment {
  readonly hash: string;
  readonly generation: number | undefined;
  readonly replicaSet: string;
  /** Names, sorted. */
  readonly pods: readonly string[];
}

/** Returns the hash of what the Pods of a Deployment read, in the pod template or recorded beside it; undefined if there is none. */
export function hashOf(observer: Observer, name: string): string | undefined {
  const hash = templateHash(observer, name);
  const recorded = observer.deployment(name)?.metadata.annotations?.[recordedConfigAnnotation];
  return recordedConfigFor(hash ?? "", recorded)?.hash ?? hash;
}

function templateHash(observer: Observer, name: string): string | undefined {
  return observer.deployment(name)?.spec?.template.metadata?.annotations?.[configHash];
}

/** Returns the Deployment when all its Pods have this hash and are available, as `kubectl rollout status` decides; undefined until then. */
export function rolledOut(observer: Observer, name: string, hash: string): RolledOutDeployment | undefined {
  const deployment = observer.deployment(name);
  const { replicas, updatedReplicas, availableReplicas, observedGeneration } = deployment?.status ?? {};
  const { generation } = deployment?.metadata ?? {};
  const wanted = deployment?.spec?.replicas;
  if (wanted === undefined || hashOf(observer, name) !== hash || observedGeneration !== generation) return undefined;
  if (replicas !== wanted || updatedReplicas !== wanted || availableReplicas !== wanted) return undefined;
  const written = templateHash(observer, name);
  const replicaSet = replicaSetsOf(observer, name).find(
    ({ spec }) => spec?.template?.metadata?.annotations?.[configHash] === written,
  );
  const pods = observer
    .pods()
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.name === replicaSet?.metadata.name))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
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
