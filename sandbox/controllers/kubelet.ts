import { isObject, type Json, type JsonObject, listOf, objectOf, stringOf, valueAt } from "../objects/json.ts";
import type { ApiObject } from "../objects/object.ts";
import { resources } from "../objects/resources.ts";
import { remove } from "../registry/deletion.ts";
import { type Registry, update } from "../registry/registry.ts";
import { type Controller, type DelayedSteps, kubelet, objectKey, objectOfKey } from "./controller.ts";
import {
  crashedStatus,
  runningStatus,
  scheduledStatus,
  stoppedStatus,
  unschedulableStatus,
  waitingStatus,
} from "./pod-status.ts";
import { isReady } from "./pods.ts";

/** The sandbox's one node. */
export const nodeName = "sandbox";

/** How Pods behave. */
export interface KubeletOptions {
  /** How long a Pod takes to become ready and to stop, in milliseconds. */
  readonly podDelayMs: number;
  /** Whether the containers of a Pod would end as soon as they start now; undefined: never. */
  readonly crashes?: ((pod: ApiObject) => boolean) | undefined;
  /** Whether the node has room for a Pod now; undefined: always. */
  readonly hasRoom?: ((pod: ApiObject) => boolean) | undefined;
  /** Why the containers of a Pod wait now, such as `ImagePullBackOff`. Undefined: they wait only for configuration. */
  readonly waits?: ((pod: ApiObject) => string | undefined) | undefined;
}

/** How long a Pod without room waits until the scheduler tries again, in milliseconds. */
const roomDelayMs = 1_000;

/**
 * Plays scheduler and kubelet: Pods for the default scheduler become Running and ready a moment after the ConfigMaps and
 * Secrets that they require exist, and go a moment after they are deleted. Pods for other schedulers stay Pending; one
 * that crashes is tried again when configuration of its namespace changes.
 */
export function kubeletController(
  registry: Registry,
  steps: DelayedSteps,
  { podDelayMs: delayMs, crashes, hasRoom = () => true, waits }: KubeletOptions,
): Controller {
  return {
    concerned({ resource, after }) {
      if (after === undefined) return [];
      if (resource === resources.pods) return [objectKey(after)];
      if (resource !== resources.configMaps && resource !== resources.secrets) return [];
      const waiting = registry.storage.list(resources.pods, after.metadata.namespace).filter((pod) => !isReady(pod));
      return waiting.map(objectKey);
    },
    sync(key) {
      const pod = objectOfKey(registry, resources.pods, key);
      if (pod === undefined) return;
      const { uid, deletionTimestamp } = pod.metadata;
      if (deletionTimestamp !== undefined)
        return steps.schedule(`stop/${uid}`, delayMs, () => stop(registry, key, uid));
      if (stringOf(objectOf(pod.spec).nodeName) === "") return schedule(registry, steps, pod, hasRoom);
      if (isReady(pod)) return;
      const waiting = waitsFor(registry, pod) ?? waits?.(pod);
      if (waiting !== undefined) return writePodStatus(registry, pod, waitingStatus(pod, waiting));
      steps.schedule(`start/${uid}`, delayMs, () => start(registry, key, uid, crashes));
    },
  };
}

/** Assigns a Pod to the node. Without room, the Pod waits with the words of the scheduler, and is tried again. */
function schedule(registry: Registry, steps: DelayedSteps, pod: ApiObject, hasRoom: (pod: ApiObject) => boolean): void {
  if (objectOf(pod.spec).schedulerName !== "default-scheduler") return;
  const { uid } = pod.metadata;
  if (hasRoom(pod)) {
    // A binding is no field of a manager.
    const bound = { ...pod, spec: { ...objectOf(pod.spec), nodeName }, status: scheduledStatus(pod, registry.clock) };
    registry.storage.put(resources.pods, bound);
    return;
  }
  const key = objectKey(pod);
  steps.schedule(`room/${uid}`, roomDelayMs, () => {
    const now = objectOfKey(registry, resources.pods, key);
    const isWaiting = now?.metadata.uid === uid && stringOf(objectOf(now.spec).nodeName) === "";
    if (now !== undefined && isWaiting) schedule(registry, steps, now, hasRoom);
  });
  writePodStatus(registry, pod, unschedulableStatus(pod, registry.clock));
}

function start(registry: Registry, key: string, uid: string, crashes: KubeletOptions["crashes"]): void {
  const pod = objectOfKey(registry, resources.pods, key);
  if (pod?.metadata.uid !== uid || pod.metadata.deletionTimestamp !== undefined) return;
  // What was there a moment ago may be gone.
  if (waitsFor(registry, pod) !== undefined) return;
  writePodStatus(registry, pod, startStatus(pod, registry, crashes));
}

function stop(registry: Registry, key: string, uid: string): void {
  const pod = objectOfKey(registry, resources.pods, key);
  if (pod?.metadata.uid !== uid) return;
  remove(registry, resources.pods, pod.metadata.namespace, pod.metadata.name, { gracePeriodSeconds: 0 }, false);
}

function writePodStatus(registry: Registry, pod: ApiObject, status: JsonObject): void {
  const { namespace, name } = pod.metadata;
  update(registry, resources.pods, namespace, name, { ...pod, status }, { ...kubelet, subresource: "status" });
}

/**
 * Ends containers of a Pod that runs. They start again at once, and read what is stored then, or wait for what is missing. An init
 * container runs again, too, if it is named. Does nothing if the Pod is not ready.
 */
export function restartContainers(
  registry: Registry,
  key: string,
  names: readonly string[],
  crashes?: KubeletOptions["crashes"],
): void {
  const pod = objectOfKey(registry, resources.pods, key);
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || !isReady(pod)) return;
  const stopped = { ...pod, status: stoppedStatus(pod, names, registry.clock) };
  const waiting = waitsFor(registry, stopped);
  if (waiting !== undefined) writePodStatus(registry, pod, waitingStatus(stopped, waiting));
  else writePodStatus(registry, pod, startStatus(stopped, registry, crashes));
}

function startStatus(pod: ApiObject, { clock }: Registry, crashes: KubeletOptions["crashes"]): JsonObject {
  return crashes?.(pod) ? crashedStatus(pod, clock) : runningStatus(pod, clock);
}

/** What a kubelet calls the wait for a ConfigMap or Secret that is missing; undefined where nothing is. */
function waitsFor(registry: Registry, pod: ApiObject): string | undefined {
  const spec = objectOf(pod.spec);
  const isMissing = missingIn(registry, pod.metadata.namespace);
  const sources = listOf(spec.volumes).flatMap((volume) => [
    volume,
    ...listOf(valueAt(volume, "projected", "sources")),
  ]);
  for (const source of sources) {
    const { configMap, secret } = objectOf(source);
    if (isMissing("ConfigMap", configMap) || isMissing("Secret", secret)) return "ContainerCreating";
  }
  for (const container of [...listOf(spec.initContainers), ...listOf(spec.containers)].map(objectOf)) {
    for (const item of [...listOf(container.env), ...listOf(container.envFrom)]) {
      const { valueFrom, configMapRef, secretRef } = objectOf(item);
      const { configMapKeyRef, secretKeyRef } = objectOf(valueFrom);
      const configMap = isMissing("ConfigMap", configMapRef) || isMissing("ConfigMap", configMapKeyRef);
      if (configMap || isMissing("Secret", secretRef) || isMissing("Secret", secretKeyRef)) {
        return "CreateContainerConfigError";
      }
    }
  }
  return undefined;
}

function missingIn(registry: Registry, namespace: string | undefined) {
  return (kind: "ConfigMap" | "Secret", reference: Json | undefined): boolean => {
    if (!isObject(reference) || reference.optional === true) return false;
    const name = stringOf(reference.name) || stringOf(reference.secretName);
    const resource = kind === "ConfigMap" ? resources.configMaps : resources.secrets;
    const object = registry.storage.get(resource, namespace, name);
    if (object === undefined) return true;
    const data = { ...objectOf(object.data), ...objectOf(object.binaryData) };
    const keys = [reference.key, ...listOf(reference.items).map((item) => objectOf(item).key)];
    return keys.some((key) => typeof key === "string" && data[key] === undefined);
  };
}
