import { type JsonObject, listOf, objectOf, valueAt } from "../objects/json.ts";
import type { ApiObject } from "../objects/object.ts";
import { resources } from "../objects/resources.ts";
import { remove } from "../registry/deletion.ts";
import { create, type Registry } from "../registry/registry.ts";
import { controllerManager, controllerReference } from "./controller.ts";

/** Reports whether a Pod is neither being deleted nor has ended. */
export function isActive({ metadata, status }: ApiObject): boolean {
  const phase = objectOf(status).phase;
  return metadata.deletionTimestamp === undefined && phase !== "Succeeded" && phase !== "Failed";
}

/** Reports whether the condition `Ready` of a Pod is true. */
export function isReady({ status }: ApiObject): boolean {
  return listOf(objectOf(status).conditions).some((item) => {
    const { type, status: value } = objectOf(item);
    return type === "Ready" && value === "True";
  });
}

/** The name and labels of a new Pod, in addition to its template. */
export interface PodNaming {
  readonly name?: string;
  readonly generateName?: string;
  readonly labels?: { readonly [label: string]: string };
  readonly spec?: JsonObject;
}

/** Creates a Pod from a workload's template, owned by it. */
export function createPod(registry: Registry, owner: ApiObject, template: JsonObject, naming: PodNaming): void {
  const { labels, annotations } = objectOf(template.metadata);
  const { namespace } = owner.metadata;
  const { name, generateName } = naming;
  const metadata = {
    name,
    generateName,
    labels: { ...objectOf(labels), ...naming.labels },
    annotations,
    ownerReferences: controllerReference(owner) ?? [],
  };
  const body = { metadata, spec: { ...objectOf(template.spec), ...naming.spec } };
  create(registry, resources.pods, namespace, body, { ...controllerManager, mutate: registry.admitPod });
}

/** Deletes a Pod; it stops in its own time. */
export function deletePod(registry: Registry, { metadata }: ApiObject): void {
  if (metadata.deletionTimestamp !== undefined) return;
  remove(registry, resources.pods, metadata.namespace, metadata.name, undefined, false);
}

/** Returns the Pod template of a workload; an empty object if it is absent. */
export function templateOf(workload: ApiObject): JsonObject {
  return objectOf(valueAt(workload, "spec", "template"));
}

/** Returns a number in the spec of an object; 0 if it is absent. */
export function specNumber({ spec }: ApiObject, field: string): number {
  return Number(objectOf(spec)[field] ?? 0);
}

/** Returns a number in the status of an object; 0 if it is absent. */
export function statusNumber({ status }: ApiObject, field: string): number {
  return Number(objectOf(status)[field] ?? 0);
}

/** Returns a count as a status has it: absent if it is 0. */
export function count(value: number): number | undefined {
  return value === 0 ? undefined : value;
}
