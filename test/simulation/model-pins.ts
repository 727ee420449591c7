import type { WorkloadSpec } from "./model-reading.ts";
import { annotations } from "./model-workload.ts";
import type { StoredObject } from "./record.ts";

/** The copies that Pods read, by the name of the ConfigMap that the pod spec references. */
export type Pins = ReadonlyMap<string, string>;

interface Annotated {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
}

/** Returns the pod template of a workload or ReplicaSet. */
export function templateOf({ spec }: StoredObject): WorkloadSpec["template"] {
  return (spec as WorkloadSpec | undefined)?.template;
}

/** Returns the pins of a pod template or Pod; empty if it has none. */
export function pinsOf(template: Annotated | undefined): Pins {
  const text = template?.metadata?.annotations?.[annotations.pinned];
  return new Map(text?.split(",").map((pin) => pin.split("=", 2) as [string, string]));
}

/** Reports whether an object is a pinned copy. */
export function isCopy({ metadata }: StoredObject): boolean {
  return metadata.labels?.["wave.pusher.com/pinned-copy"] === "true";
}

/** Returns a workload of which only what its Pods read is tracked, and nothing that its annotations name. */
export function onlyPods(workload: StoredObject): StoredObject {
  const { annotations: _, ...metadata } = workload.metadata;
  return { ...workload, metadata };
}
