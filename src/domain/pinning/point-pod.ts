import type { Pod, PodSpec } from "#kubernetes";
import { pinnedAnnotation } from "../references/annotations.ts";
import type { JsonPatch, JsonPatchOperation } from "../syntax/json-patch.ts";
import { neverPinned } from "./pin-request.ts";
import { absentName, type Pins, parsePins } from "./pins.ts";

/** Annotation of a Pod that the kubelet made from a file. The API server rejects such a Pod if it references a ConfigMap. */
export const mirrorAnnotation = "kubernetes.io/config.mirror";

/** A field of a pod spec that names a ConfigMap. A missing name is a mistake that the API server reports. */
interface ConfigMapReference {
  readonly name?: string;
  readonly optional?: boolean;
}

/** Returns the pins of a Pod; undefined without a well-formed annotation. */
export function pinsOfPod({ metadata }: Pod): Pins | undefined {
  const text = metadata?.annotations?.[pinnedAnnotation];
  return text === undefined ? undefined : parsePins(text);
}

/**
 * Returns the patch that points a new Pod at its copies: volumes, projected volumes, and the environment of containers and
 * initContainers. All other references stay live, and so does a required reference to a ConfigMap that was absent. The policy of the
 * chart does the same (deploy/values/pinning-policy.ts).
 *
 * A variable of an absent ConfigMap is removed, because the API server accepts {@link absentName} only in volumes.
 */
export function pointPod({ metadata, spec }: Pod, pins: Pins): JsonPatch {
  if (spec === undefined || metadata?.annotations?.[mirrorAnnotation] !== undefined) return [];
  return [
    ...volumeOperations(spec, pins),
    ...environmentOperations("containers", spec, pins),
    ...environmentOperations("initContainers", spec, pins),
  ];
}

/** Returns the name that a reference is to have; undefined if the reference stays as it is. */
function targetOf({ name = "", optional = false }: ConfigMapReference, pins: Pins): string | undefined {
  const copy = neverPinned.includes(name) ? undefined : pins.get(name);
  return copy === absentName(name) && !optional ? undefined : copy;
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
  return entriesOf(spec[field]).flatMap(([i, { env, envFrom }]) => {
    const at = `/spec/${field}/${i}`;
    return [
      // From the end, so that a removal moves no entry that a later operation names.
      ...entriesOf(env)
        .reverse()
        .flatMap(([j, { valueFrom }]) =>
          renameOrRemove(valueFrom?.configMapKeyRef, `${at}/env/${j}`, "valueFrom/configMapKeyRef", pins),
        ),
      ...entriesOf(envFrom)
        .reverse()
        .flatMap(([j, { configMapRef }]) => renameOrRemove(configMapRef, `${at}/envFrom/${j}`, "configMapRef", pins)),
    ];
  });
}

function rename(reference: ConfigMapReference | undefined, at: string, pins: Pins): JsonPatch {
  const value = reference && targetOf(reference, pins);
  return value === undefined ? [] : [{ op: "replace", path: `${at}/name`, value }];
}

function renameOrRemove(
  reference: ConfigMapReference | undefined,
  entry: string,
  field: string,
  pins: Pins,
): readonly JsonPatchOperation[] {
  const value = reference && targetOf(reference, pins);
  if (value === undefined) return [];
  const isAbsent = value === absentName(reference?.name ?? "");
  return isAbsent ? [{ op: "remove", path: entry }] : [{ op: "replace", path: `${entry}/${field}/name`, value }];
}

/** Returns the items of a list with their indexes. The API server writes some empty lists as null. */
function entriesOf<Item>(list: readonly Item[] | null | undefined): [number, Item][] {
  return [...(list ?? []).entries()];
}
