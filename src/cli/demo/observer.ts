import type { Deployment, Event, Pod, ReplicaSet } from "#kubernetes";
import { recordedConfigFor } from "../../domain/config/hash.ts";
import { configHash, recordedConfigAnnotation } from "../../domain/references/annotations.ts";
import { type KubeObject, type Resource, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { listWatch } from "../../kube/list-watch/list-watch.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";

type Stored<T> = KubeObject & Omit<T, "apiVersion" | "kind" | "metadata">;

/** The current objects of a namespace that the demo observes. */
export interface Observer {
  readonly deployment: (name: string) => Stored<Deployment> | undefined;
  readonly replicaSets: () => readonly Stored<ReplicaSet>[];
  readonly pods: () => readonly Stored<Pod>[];
  readonly events: () => readonly Stored<Event>[];
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
  const waiting = new Set<() => void>();
  const onChange = () => {
    for (const check of waiting) check();
  };
  const deployments = watch<Stored<Deployment>>(resources.deployments, options, onChange);
  const replicaSets = watch<Stored<ReplicaSet>>(resources.replicaSets, options, onChange);
  const pods = watch<Stored<Pod>>(resources.pods, options, onChange);
  const events = watch<Stored<Event>>(resources.events, options, onChange);

  const until: Observer["until"] = <T>(what: string, probe: () => T | undefined) =>
    new Promise<T>((resolve, reject) => {
      const end = () => {
        cancel();
        waiting.delete(check);
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = () => {
        end();
        reject(signal.reason);
      };
      const check = () => {
        const found = probe();
        if (found === undefined) return;
        end();
        resolve(found);
      };
      const cancel = clock.timer(stepMs, () => {
        end();
        reject(new Error(`waited ${stepMs / 1000} s for ${what}`));
      });
      if (signal.aborted) return onAbort();
      signal.addEventListener("abort", onAbort);
      waiting.add(check);
      check();
    });

  return {
    deployment: (name) => deployments.get(name),
    replicaSets: () => [...replicaSets.values()],
    pods: () => [...pods.values()],
    events: () => [...events.values()],
    until,
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
