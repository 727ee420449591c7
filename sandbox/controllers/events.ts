import { type ApiObject, timestamp } from "../objects/object.ts";
import { resources } from "../objects/resources.ts";
import { create, type Registry } from "../registry/registry.ts";
import { controllerManager } from "./controller.ts";

/** What a controller reports about an object. */
export interface ControllerEvent {
  readonly component: string;
  readonly reason: string;
  readonly message: string;
}

/** Writes a Normal Event about an object, as `kubectl describe` shows it. */
export function recordEvent(registry: Registry, about: ApiObject, event: ControllerEvent): void {
  const { namespace, name, uid, resourceVersion } = about.metadata;
  const now = timestamp(registry.clock.wall());
  const body = {
    metadata: { name: `${name}.${registry.uuid().replaceAll("-", "").slice(0, 16)}` },
    involvedObject: { apiVersion: about.apiVersion, kind: about.kind, namespace, name, uid, resourceVersion },
    type: "Normal",
    reason: event.reason,
    message: event.message,
    source: { component: event.component },
    reportingComponent: event.component,
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  };
  create(registry, resources.events, namespace, body, controllerManager);
}
