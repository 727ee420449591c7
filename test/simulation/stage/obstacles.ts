import { controllerManager } from "../../../sandbox/controllers/controller.ts";
import { type ApiObject, timestamp } from "../../../sandbox/objects/object.ts";
import { resources } from "../../../sandbox/objects/resources.ts";
import { StatusError } from "../../../sandbox/objects/status-error.ts";
import { create } from "../../../sandbox/registry/registry.ts";
import type { PlayedStuck } from "../record.ts";
import type { Cluster } from "./cluster.ts";

/** What keeps the new Pods of one workload from their start: the workload that creates the first Pod. */
export interface Obstacle {
  readonly fate: PlayedStuck["fate"];
  /** The label `app` of its Pods; undefined: it has created none yet. */
  app: string | undefined;
}

/** Plays the obstacles of a cluster. */
export const obstructed = { fate, wait, creation };

type Obstructed = Pick<Cluster, "obstacles" | "server">;

/** Removes the obstacle of a namespace. The quota, the image and the volume are tried again at once. */
export function removeObstacle(namespace: string, { obstacles, server }: Obstructed): void {
  const { storage } = server.registry;
  obstacles.delete(namespace);
  for (const resource of [resources.statefulSets, resources.pods])
    for (const object of storage.list(resource, namespace)) storage.put(resource, { ...object });
}

function fate({ metadata }: ApiObject, { obstacles }: Obstructed): Obstacle["fate"] | undefined {
  const obstacle = obstacles.get(metadata.namespace ?? "");
  if (obstacle === undefined) return undefined;
  const { app } = metadata.labels ?? {};
  obstacle.app ??= app;
  return obstacle.app === app ? obstacle.fate : undefined;
}

/** Returns why the containers of a Pod wait. */
function wait(pod: ApiObject, cluster: Obstructed): string | undefined {
  const found = fate(pod, cluster);
  if (found === "ImagePullBackOff") return found;
  if (found !== "FailedAttachVolume") return undefined;
  const message = "Multi-Attach error for volume: Volume is already used by Pod(s) other-0";
  warn(pod, found, message, cluster);
  return "ContainerCreating";
}

/** Refuses a Pod of a StatefulSet, whose controller writes an Event, if a quota has no room for it. */
function creation(pod: ApiObject, cluster: Obstructed): void {
  const reason = fate(pod, cluster);
  if (reason !== "FailedCreate") return;
  const { registry } = cluster.server;
  const message = `pods "${pod.metadata.name}" is forbidden: exceeded quota: room, requested: pods=1, used: pods=3, limited: pods=3`;
  const owner = pod.metadata.ownerReferences?.[0]?.name ?? "";
  const set = registry.storage.get(resources.statefulSets, pod.metadata.namespace, owner);
  if (set !== undefined) warn(set, reason, message, cluster);
  throw new StatusError(403, "Forbidden", message);
}

/** Writes an Event of Kubernetes, or its new time if it exists. */
function warn({ kind, metadata }: ApiObject, reason: string, message: string, { server }: Obstructed): void {
  const { registry } = server;
  const { namespace, uid } = metadata;
  const name = `${metadata.name}.${reason.toLowerCase()}.${uid}`;
  const lastTimestamp = timestamp(registry.clock.wall());
  const known = registry.storage.get(resources.events, namespace, name);
  if (known !== undefined) {
    registry.storage.put(resources.events, { ...known, lastTimestamp });
    return;
  }
  const involvedObject = { kind, namespace, name: metadata.name, uid };
  const body = { metadata: { name }, involvedObject, type: "Warning", reason, message, lastTimestamp };
  create(registry, resources.events, namespace, body, controllerManager);
}
