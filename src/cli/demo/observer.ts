import { EventEmitter, once } from "node:events";
import type { Deployment, Event, Pod, ReplicaSet } from "#kubernetes";
import { recordedConfigFor } from "../../domain/config/hash.ts";
import { configHash, recordedConfigAnnotation } from "../../domain/references/annotations.ts";
import { type KubeObject, type Resource, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { listWatch } from "../../kube/list-watch/list-watch.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";

type Stored<T> = KubeObject & Omit<T, "apiVersion" | "kind" | "metadata">;

/** The current objects of a namespace that the demo observes, by name. */
export interface Observer {
  readonly deployments: ReadonlyMap<string, Stored<Deployment>>;
  readonly replicaSets: ReadonlyMap<string, Stored<ReplicaSet>>;
  readonly pods: ReadonlyMap<string, Stored<Pod>>;
  readonly events: ReadonlyMap<string, Stored<Event>>;
  /**
   * Calls `probe` now and after every change, and resolves with its first result that is not undefined. Rejects after `stepMs` with
   * "waited 10 s for" and `what`, and with the reason of the signal if it aborts.
   */
  readonly until: <T>(what: string, probe: () => T | undefined) => Promise<T>;
}

interface ObserverOptions extends Pick<ProcessContext, "clock" | "log"> {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly stepMs: number;
  /** Ends all watches and waits. */
  readonly signal: AbortSignal;
}

/** Watches a namespace until the signal is aborted. */
export function observe(options: ObserverOptions): Observer {
  const { clock, stepMs, signal } = options;
  const changes = new EventEmitter();
  const onChange = () => void changes.emit("change");
  return {
    deployments: watch(resources.deployments, options, onChange),
    replicaSets: watch(resources.replicaSets, options, onChange),
    pods: watch(resources.pods, options, onChange),
    events: watch(resources.events, options, onChange),
    until: async (what, probe) => {
      const late = new AbortController();
      const cancel = clock.timer(stepMs, () => late.abort(new Error(`waited ${stepMs / 1000} s for ${what}`)));
      const over = AbortSignal.any([signal, late.signal]);
      try {
        for (;;) {
          over.throwIfAborted();
          const found = probe();
          if (found !== undefined) return found;
          await once(changes, "change", { signal: over });
        }
      } catch (error) {
        throw over.aborted ? over.reason : error;
      } finally {
        cancel();
      }
    },
  };
}

/** Watches a resource and returns its objects by name, always current. */
function watch<T extends KubeObject>(
  resource: Resource,
  { client, namespace, clock, log, signal }: ObserverOptions,
  onChange: () => void,
): ReadonlyMap<string, T> {
  const objects = new Map<string, T>();
  const listed = new Set<string>();
  const follow = async () => {
    const metrics = new MetricsRegistry();
    for await (const event of listWatch<T>({ client, resource, namespace, clock, log, metrics, signal })) {
      if (event.type === "init") listed.clear();
      else if (event.type === "initDone") {
        for (const name of objects.keys()) if (!listed.has(name)) objects.delete(name);
      } else if (event.type === "delete") objects.delete(event.object.metadata.name);
      else if (event.type !== "initFailed") {
        objects.set(event.object.metadata.name, event.object);
        if (event.type === "initApply") listed.add(event.object.metadata.name);
      }
      onChange();
    }
  };
  void follow();
  return objects;
}

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
  const recorded = observer.deployments.get(name)?.metadata.annotations?.[recordedConfigAnnotation];
  return recordedConfigFor(hash ?? "", recorded)?.hash ?? hash;
}

function templateHash(observer: Observer, name: string): string | undefined {
  return observer.deployments.get(name)?.spec?.template.metadata?.annotations?.[configHash];
}

/** Returns the Deployment when all its Pods have this hash and are available, as `kubectl rollout status` decides; undefined until then. */
export function rolledOut(observer: Observer, name: string, hash: string): RolledOutDeployment | undefined {
  const deployment = observer.deployments.get(name);
  const { replicas, updatedReplicas, availableReplicas, observedGeneration } = deployment?.status ?? {};
  const { generation } = deployment?.metadata ?? {};
  const wanted = deployment?.spec?.replicas;
  if (wanted === undefined || hashOf(observer, name) !== hash || observedGeneration !== generation) return undefined;
  if (replicas !== wanted || updatedReplicas !== wanted || availableReplicas !== wanted) return undefined;
  const written = templateHash(observer, name);
  const replicaSet = replicaSetsOf(observer, name).find(
    ({ spec }) => spec?.template?.metadata?.annotations?.[configHash] === written,
  );
  const pods = [...observer.pods.values()]
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.name === replicaSet?.metadata.name))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name)
    .sort();
  if (replicaSet === undefined || pods.length !== wanted) return undefined;
  return { hash, generation, replicaSet: replicaSet.metadata.name, pods };
}

/** Returns the ReplicaSets of a Deployment: one for each pod template that it had. */
export function replicaSetsOf(observer: Observer, deployment: string) {
  const all = [...observer.replicaSets.values()];
  return all.filter(({ metadata }) => metadata.ownerReferences?.some(({ name }) => name === deployment));
}

/** Returns the message of an Event with this reason on a Deployment, unless its resource version is in `seen`. */
export function eventOn(
  observer: Observer,
  deployment: string,
  reason: string,
  seen: ReadonlySet<string>,
): string | undefined {
  const isNew = ({ metadata }: KubeObject) => !seen.has(metadata.resourceVersion);
  return observer.events
    .values()
    .find((each) => each.reason === reason && each.involvedObject.name === deployment && isNew(each))?.message;
}
