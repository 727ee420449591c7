import { randomUUID } from "node:crypto";
import { startControllers } from "../controllers/controllers.ts";
import type { ApiObject } from "../objects/object.ts";
import { resources } from "../objects/resources.ts";
import { create, type Registry } from "../registry/registry.ts";
import { Storage } from "../registry/storage.ts";
import type { WebhookCaller } from "../registry/webhooks.ts";
import { type Clock, systemClock } from "../time/clock.ts";

/** Options of an API server, for any transport of its requests. */
export interface ApiServerOptions {
  /** Whether Deployments, StatefulSets and DaemonSets get Pods. Default true. */
  readonly controllers?: boolean;
  /** How many writes history holds for watches that resume. Default 10,000. */
  readonly historySize?: number;
  /** How late the controllers see the next write, in milliseconds. Default: at once. */
  readonly controllerDelayMs?: () => number;
  /** How long a Pod takes to become ready and to stop, in milliseconds. Default 50. */
  readonly podDelayMs?: number;
  /** How often watches get a bookmark, in milliseconds. Default 10,000. */
  readonly bookmarkMs?: number;
  readonly clock?: Clock;
  /** Numbers in [0, 1). Default Math.random. */
  readonly random?: () => number;
  /** A new unique identifier. Default: a random UUID. */
  readonly uuid?: () => string;
  /** How webhooks are reached that are registered. Default: none is called. */
  readonly webhooks?: WebhookCaller;
  /** Whether `widgets.example.com` are served now, as after a CustomResourceDefinition came. Default: never. */
  readonly servesWidgets?: () => boolean;
  /** What an admission policy makes of a Pod that a controller creates. Default: nothing. */
  readonly admitPod?: (pod: ApiObject) => ApiObject;
  /** Whether the containers of a Pod would end as soon as they start now. Default: none does. */
  readonly crashes?: (pod: ApiObject) => boolean;
  /** Whether the node has room for a Pod now. Default: it has. */
  readonly hasRoom?: (pod: ApiObject) => boolean;
  /** Why the containers of a Pod wait now, such as `ImagePullBackOff`. Default: they wait only for configuration. */
  readonly waits?: (pod: ApiObject) => string | undefined;
}

/** An API server in memory; `answerCall` asks it. */
export interface ApiServer {
  readonly registry: Registry;
  readonly bookmarkMs: number;
  readonly servesWidgets?: (() => boolean) | undefined;
  /** Ends the controllers. */
  readonly stop: () => void;
}

/** Starts an API server with the namespaces that a cluster has; it listens nowhere. */
export function startApiServer(options: ApiServerOptions = {}): ApiServer {
  const { clock = systemClock, random = Math.random, uuid = randomUUID, webhooks } = options;
  const storage = new Storage(options.historySize ?? 10_000);
  const registry: Registry = { storage, clock, random, uuid, webhooks, admitPod: options.admitPod };
  createNamespaces(registry);
  const stop = startControllers(registry, {
    workloads: options.controllers ?? true,
    podDelayMs: options.podDelayMs ?? 50,
    controllerDelayMs: options.controllerDelayMs ?? (() => 0),
    crashes: options.crashes,
    hasRoom: options.hasRoom,
    waits: options.waits,
  });
  const { bookmarkMs = 10_000, servesWidgets } = options;
  return { registry, bookmarkMs, servesWidgets, stop };
}

function createNamespaces(registry: Registry): void {
  for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"]) {
    const body = { metadata: { name } };
    create(registry, resources.namespaces, undefined, body, {
      fieldManager: "kube-apiserver",
      dryRun: false,
      strict: false,
      warn: () => {},
    });
  }
}
