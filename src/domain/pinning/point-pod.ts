import type { Pod, PodSpec } from "#kubernetes";
import { pinnedAnnotation } from "../references/annotations.ts";
import type { JsonPatch } from "../syntax/json-patch.ts";
import { neverPinned } from "./pin-request.ts";
import { type Pins, parsePins } from "./pins.ts";

/** Annotation of a Pod that the kubelet made from a file. The API server rejects such a Pod if it references a ConfigMap. */
export const mirrorAnnotation = "kubernetes.io/config.mirror";

/** Returns the pins of a Pod; undefined without a well-formed annotation. */
export function pinsOfPod({ metadata }: Pod): Pins | undefined {
  const text = metadata?.annotations?.[pinnedAnnotation];
  return text === undefined ? undefined : parsePins(text);
}

/**
 * Returns the patch that points a new Pod at its copies: volumes, projected volumes, and the environment of containers and
 * initContainers. All other references stay live. The policy of the chart does the same (deploy/values/pinning-policy.ts).
 */
export function pointPod({ metadata, spec }: Pod, pins: Pins): JsonPatch {
  if (spec === undefined || metadata?.annotations?.[mirrorAnnotation] !== undefined) return [];
  return [
    ...volumeOperations(spec, pins),
    ...environmentOperations("containers", spec, pins),
    ...environmentOperations("initContainers", spec, pins),
  ];
}

function volumeOperations({ volumes }: PodSpec, pins: Pins): JsonPatch {
  return entriesOf(volumes).flatMap(([i, { configMap, projected }]) => [
    ...rename(configMap, `/spec/volumes/${i}/configMap`, pins),
    ...entriesOf(projected?.sources).flatMap(([j, source]) =>
      rename(source.configMap, `/spec/volumes/${i}/projected/sources/${j}/configMap`, pins),
    ),
  ]);
}

function environmentOperations(field: "containers" | "initContainers", spec: PodSpec, pins: Pins): JsonPatch {
  return entriesOf(spec[field]).flatMap(([i, { env, envFrom }]) => [
    ...entriesOf(env).flatMap(([j, { valueFrom }]) =>
      rename(valueFrom?.configMapKeyRef, `/spec/${field}/${i}/env/${j}/valueFrom/configMapKeyRef`, pins),
    ),
    ...entriesOf(envFrom).flatMap(([j, { configMapRef }]) =>
      rename(configMapRef, `/spec/${field}/${i}/envFrom/${j}/configMapRef`, pins),
    ),
  ]);
}

/** Returns the operation for one reference to a ConfigMap. A missing name is a mistake that the API server reports. */
function rename(reference: { readonly name?: string } | undefined, at: string, pins: Pins): JsonPatch {
  const { name = "" } = reference ?? {};
  const value = neverPinned.includes(name) ? undefined : pins.get(name);
  return value === undefined ? [] : [{ op: "replace", path: `${at}/name`, value }];
}

/** Returns the items of a list with their indexes. The API server writes some empty lists as null. */
function entriesOf<Item>(list: readonly Item[] | null | undefined): [number, Item][] {
  return [...(list ?? []).entries()];
}
