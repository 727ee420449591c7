import { configHash } from "../../domain/references/annotations.ts";
import type { Observer } from "./observer.ts";

/** A Deployment whose Pods all have the configuration of one hash. */
export interface RolledOutDeployment {
  readonly hash: string;
  readonly generation: number | undefined;
  readonly replicaSet: string;
  /** Names, sorted. */
  readonly pods: readonly string[];
}

/** The hash on a Deployment's pod template; undefined where there is none. */
export function hashOf(observer: Observer, deployment: string): string | undefined {
  return observer.deployment(deployment)?.spec?.template.metadata?.annotations?.[configHash];
}

/** The same question as `kubectl rollout status`: undefined until Pods of this hash, and only these, are available. */
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

/** The ReplicaSets of a Deployment: one for each pod template that it ever had. */
export function replicaSetsOf(observer: Observer, deployment: string) {
  return observer
    .replicaSets()
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === deployment));
}

/** The message of the newest Event of a reason on a Deployment that was not there at `seen`. */
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
