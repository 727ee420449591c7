import { isObject, type Json, type JsonObject, listOf, objectOf, stringOf, valueAt } from "../objects/json.ts";
import { type ApiObject, timestamp } from "../objects/object.ts";
import { resources } from "../objects/resources.ts";
import { remove } from "../registry/deletion.ts";
import { type Registry, update } from "../registry/registry.ts";
import { type Controller, type DelayedSteps, kubelet, objectKey, objectOfKey } from "./controller.ts";
import { isReady } from "./pods.ts";

/** The sandbox's one node. */
export const nodeName = "sandbox";

/** How Pods behave. */
export interface KubeletOptions {
  /** How long a Pod takes to become ready and to stop, in milliseconds. */
  readonly podDelayMs: number;
  /** Whether the containers of a Pod would end as soon as they start now; undefined: never. */
  readonly crashes?: ((pod: ApiObject) => boolean) | undefined;
}

/**
 * Plays scheduler and kubelet: Pods for the default scheduler become Running and ready a moment after the ConfigMaps and
 * Secrets that they require exist, and go a moment after they are deleted. Pods for other schedulers stay Pending; one
 * that crashes is tried again when configuration of its namespace changes.
 */
export function kubeletController(
  registry: Registry,
  steps: DelayedSteps,
  { podDelayMs: delayMs, crashes }: KubeletOptions,
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
      if (stringOf(objectOf(pod.spec).nodeName) === "") return assign(registry, pod);
      if (isReady(pod)) return;
      const waiting = waitsFor(registry, pod);
      if (waiting !== undefined) return writePodStatus(registry, pod, waitingStatus(pod, waiting));
      steps.schedule(`start/${uid}`, delayMs, () => start(registry, key, uid, crashes));
    },
  };
}

function assign(registry: Registry, pod: ApiObject): void {
  if (objectOf(pod.spec).schedulerName !== "default-scheduler") return;
  const { namespace, name } = pod.metadata;
  const assigned = { ...pod, spec: { ...objectOf(pod.spec), nodeName } };
  update(registry, resources.pods, namespace, name, assigned, kubelet);
}

function start(registry: Registry, key: string, uid: string, crashes: KubeletOptions["crashes"]): void {
  const pod = objectOfKey(registry, resources.pods, key);
  if (pod?.metadata.uid !== uid || pod.metadata.deletionTimestamp !== undefined) return;
  // What was there a moment ago may be gone.
  if (waitsFor(registry, pod) !== undefined) return;
  const crashed = crashes?.(pod) ?? false;
  writePodStatus(registry, pod, crashed ? crashedStatus(pod) : runningStatus(registry, pod));
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

function containersOf(pod: ApiObject): JsonObject[] {
  return listOf(objectOf(pod.spec).containers).map(objectOf);
}

function runningStatus(registry: Registry, pod: ApiObject): JsonObject {
  const now = timestamp(registry.clock.wall());
  const types = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
  // Made of the UID, so that a Pod keeps its address.
  const octets = pod.metadata.uid.slice(0, 4).match(/../g) ?? [];
  const podIP = `10.244.${octets.map((octet) => Number.parseInt(octet, 16)).join(".")}`;
  return {
    ...objectOf(pod.status),
    phase: "Running",
    conditions: types.map((type) => ({ type, status: "True", lastTransitionTime: now })),
    hostIP: "127.0.0.1",
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: now,
    containerStatuses: containersOf(pod).map(({ name, image }) => ({
      name,
      image,
      imageID: "",
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: now } },
      lastState: {},
    })),
  };
}

function waitingStatus(pod: ApiObject, reason: string): JsonObject {
  const containerStatuses = containersOf(pod).map(({ name, image }) => {
    return { name, image, imageID: "", ready: false, restartCount: 0, state: { waiting: { reason } }, lastState: {} };
  });
  return { ...objectOf(pod.status), phase: "Pending", containerStatuses };
}

function crashedStatus(pod: ApiObject): JsonObject {
  return { ...waitingStatus(pod, "CrashLoopBackOff"), phase: "Running" };
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
