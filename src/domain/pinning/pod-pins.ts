import type { Pod, PodSpec } from "#kubernetes";
import { podReferences } from "../model/pod-references.ts";
import { pinnedAnnotation } from "../references/annotations.ts";
import { fieldsOf, type JsonPatch, valueAtPointer } from "../syntax/json.ts";
import { neverPinned } from "./pin-request.ts";
import { type Pins, parsePins } from "./pinned-lookup.ts";

/** The pinned copies that a Pod reads. */
export interface PodPins {
  /** "partly pinned": copies and live configuration. "unpinned": no copy. */
  readonly state: "pinned" | "partly pinned" | "unpinned";
  /** The index of the revision whose copies the Pod reads; undefined if the Pod does not read all copies of one revision. */
  readonly revision: number | undefined;
  /** The pinned ConfigMaps that the Pod reads live, sorted. */
  readonly live: readonly string[];
}

/**
 * Returns which copies a Pod reads. `names` are the ConfigMaps that its spec references. Only they decide, because Kubernetes rejects changes of
 * them after the Pod is created. `revisions` are the pins of the revisions that the Pod may belong to. The first revision
 * that fits is returned.
 */
export function pinsRead(names: ReadonlySet<string>, revisions: readonly Pins[]): PodPins {
  const found = revisions.findIndex((pins) => pins.size > 0 && pins.values().every((copy) => names.has(copy)));
  const sources = found === -1 ? revisions : revisions.slice(found, found + 1);
  const live = [...new Set(sources.flatMap((pins) => [...pins.keys()]))].filter((name) => names.has(name)).sort();
  const readsCopy = revisions.some((pins) => pins.values().some((copy) => names.has(copy)));
  const revision = found === -1 ? undefined : found;
  if (!readsCopy) return { state: "unpinned", revision, live };
  return { state: live.length === 0 ? "pinned" : "partly pinned", revision, live };
}

/**
 * Reports whether a Pod reads no copy although its annotation names copies: it was created without the policy and while the webhook did not
 * answer. A Pod that reads some copies was pointed, and another webhook has added a container later.
 */
export function isUnpinned(pod: Pod): boolean {
  const pins = pinsOf(pod);
  if (pins === undefined || pointPod(pod, pins).length === 0) return false;
  return configMapsOf(pod.spec).isDisjointFrom(new Set(pins.values()));
}

/** Returns the names of the ConfigMaps that a pod spec references. */
export function configMapsOf(spec: PodSpec | undefined): ReadonlySet<string> {
  const names = new Set<string>();
  if (spec === undefined) return names;
  podReferences(spec, "", ({ kind, name }) => {
    if (kind === "ConfigMap") names.add(name);
  });
  return names;
}

/** Annotation of a Pod that the kubelet made from a file. The API server rejects such a Pod if it references a ConfigMap. */
export const mirrorAnnotation = "kubernetes.io/config.mirror";

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

/** The fields of a pod spec that name a ConfigMap, in volumes, projected volumes and containers of all kinds. */
const references = new Set(["configMap", "configMapRef", "configMapKeyRef"]);

/** The characters that cannot be in the name of an object. */
const separators = /[^a-z0-9.-]+/;

/**
 * Returns the names of the ConfigMaps that a pod spec references. Reads it without its schema: templates of custom resources may be
 * malformed, and later versions of Kubernetes may have more places. A name too many only keeps a copy.
 */
export function referencedNames(podSpec: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [field, inside] of Object.entries(value)) {
      if (references.has(field) && typeof inside?.name === "string") names.add(inside.name);
      visit(inside);
    }
  };
  visit(podSpec);
  return names;
}

/**
 * Returns the names of the ConfigMaps that Pods of a template would read: those of its pins and of its pod spec. The pins are read word by
 * word, so that a later version of Wave may write them in another form.
 */
export function namesInTemplate(template: unknown): ReadonlySet<string> {
  const text = pinsText(template);
  return new Set([...(text?.split(separators) ?? []), ...referencedNames(valueAtPointer(template, "/spec"))]);
}

/** Returns the pins of a Pod or pod template; undefined without a well-formed annotation. */
export function pinsOf(podOrTemplate: unknown): Pins | undefined {
  const text = pinsText(podOrTemplate);
  return text === undefined ? undefined : parsePins(text);
}

function pinsText(podOrTemplate: unknown): string | undefined {
  const text = fieldsOf(valueAtPointer(podOrTemplate, "/metadata/annotations"))[pinnedAnnotation];
  return typeof text === "string" ? text : undefined;
}
