import type { DaemonSet, Deployment, StatefulSet } from "#kubernetes";
import type { CompatibilitySource, WorkloadDirective } from "../compatibility/directive.ts";
import type { DirectiveContext } from "../compatibility/directives.ts";
import { configKey, extraReferences, type LimitExceeded, limits, type Reference } from "../references/references.ts";
import { sharedString } from "../syntax/json.ts";
import { podReferences, type ReferenceVisitor } from "./pod-references.ts";

/** A workload in the form that the API server sends. */
export type WorkloadObject = Deployment | StatefulSet | DaemonSet;

/** The sources of configuration that must be enabled by flag. */
type Sources = Pick<DirectiveContext, "providerClasses">;

/** The references of a workload, and the limit that they exceed. */
export interface WorkloadReferences {
  readonly references: readonly Reference[];
  readonly limitExceeded: LimitExceeded | undefined;
}

/**
 * Returns the references of a workload, merged per object and way of reading, sorted. `directives` are those that opt it in; without
 * them, the Wave annotations decide. Above a limit, the function only counts references and does not keep them: a few thousand sources
 * and mounts of one volume can name millions of keys.
 */
export function referencesOf(
  object: WorkloadObject,
  directives?: readonly WorkloadDirective[],
  sources: Sources = {},
): WorkloadReferences {
  const kept: Reference[] = [];
  const objects = new Set<string>();
  let places = 0;
  findReferences(object, directives, sources, (reference) => {
    places += reference.keys === "all" ? 1 : Math.max(1, reference.keys.length);
    objects.add(configKey(reference));
    if (places <= limits.places.max && objects.size <= limits.objects.max) kept.push(reference);
  });
  if (places > limits.places.max) return { references: [], limitExceeded: { limit: "places", count: places } };
  if (objects.size > limits.objects.max)
    return { references: [], limitExceeded: { limit: "objects", count: objects.size } };
  return { references: withoutMarkedTwice(mergeReferences(kept)), limitExceeded: undefined };
}

/** Removes references that require a mark if another reference to the same object does not. */
export function withoutMarkedTwice(references: readonly Reference[]): readonly Reference[] {
  if (!references.some(({ requiresMark }) => requiresMark)) return references;
  const unconditional = new Set(references.filter(({ requiresMark }) => !requiresMark).map(configKey));
  return references.filter((reference) => !reference.requiresMark || !unconditional.has(configKey(reference)));
}

/**
 * Returns every reference of a workload to configuration, one for each place. Without `directives`, these are the references of the pod
 * template and of the `extra-…` annotations, whether the workload has opted in or not.
 */
export function collectReferences(
  object: WorkloadObject,
  directives?: readonly WorkloadDirective[],
  sources: Sources = {},
): readonly Reference[] {
  const references: Reference[] = [];
  findReferences(object, directives, sources, (reference) => references.push(reference));
  return references;
}

/** Returns the annotations of a workload that directives are read from. */
export function compatibilitySourceOf({ metadata, spec }: WorkloadObject): CompatibilitySource {
  const { namespace = "", annotations } = metadata ?? {};
  return {
    namespace,
    annotations: annotations ?? {},
    templateAnnotations: spec?.template?.metadata?.annotations ?? {},
  };
}

function findReferences(
  object: WorkloadObject,
  directives: readonly WorkloadDirective[] | undefined,
  { providerClasses = false }: Sources,
  all: ReferenceVisitor,
): void {
  const found: ReferenceVisitor = (reference) => {
    if (providerClasses || reference.kind !== "SecretProviderClass") all(reference);
  };
  const source = compatibilitySourceOf(object);
  const { namespace } = source;
  const podSpec = object.spec?.template?.spec;
  // A claim of a StatefulSet replaces a volume with the same name.
  const claims = object.spec && "volumeClaimTemplates" in object.spec ? (object.spec.volumeClaimTemplates ?? []) : [];
  const claimed = new Set(claims.map(({ metadata }) => metadata?.name));
  const volumes = podSpec?.volumes?.filter(({ name }) => !claimed.has(name)) ?? [];
  const ofPodSpec = directives === undefined ? found : onlyRequested(directives, found);
  if (podSpec) podReferences({ ...podSpec, volumes }, namespace, ofPodSpec);
  const named = directives?.flatMap((each) => each.named) ?? extraReferences(source, namespace).references;
  for (const reference of named) found(reference);
}

/** Returns a visitor that passes on the requested references. It adds `requiresMark` if only marked objects are requested. */
function onlyRequested(directives: readonly WorkloadDirective[], found: ReferenceVisitor): ReferenceVisitor {
  const requests = directives.map(({ fromPodSpec, excluded }) => ({
    fromPodSpec,
    excluded: {
      ConfigMap: new Set(excluded.ConfigMap),
      Secret: new Set(excluded.Secret),
      SecretProviderClass: new Set(excluded.SecretProviderClass),
    },
  }));
  return (reference) => {
    const { kind, name } = reference;
    const tracked = requests
      .filter(({ excluded }) => !excluded[kind].has(name))
      .map(({ fromPodSpec }) => fromPodSpec[kind]);
    if (tracked.includes("all")) found(reference);
    else if (tracked.includes("marked")) found({ ...reference, requiresMark: true });
  };
}

/**
 * Merges references to the same object that have the same way of reading and are equally optional. The merged reference has the
 * keys of all of them. No required key becomes optional, and no optional key becomes required. The result is sorted, so
 * that the order in the pod spec does not matter. Takes time in proportion to input and output, plus one sort.
 */
export function mergeReferences(references: Iterable<Reference>): readonly Reference[] {
  const groups = new Map<string, Group>();
  for (const reference of references) {
    const { reads, keys, optional, requiresMark } = reference;
    // "All keys" and named keys stay separate: "all" requires no particular key, but a named key may be required.
    const id = `${configKey(reference)} ${reads} ${keys === "all"} ${optional}${requiresMark ? " marked" : ""}`;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, { first: reference, keys: keys === "all" ? "all" : new Set(keys) });
    else if (group.keys !== "all") for (const key of keys) group.keys.add(key);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => merged(group));
}

interface Group {
  /** The first of the merged references. Its path and annotation are kept. */
  readonly first: Reference;
  readonly keys: "all" | Set<string>;
}

/** Returns one reference for a group, made of strings that thousands of workloads share. */
function merged({
  first: { kind, namespace, name, reads, optional, path, annotation, requiresMark },
  keys,
}: Group): Reference {
  const reference: Reference = {
    kind,
    namespace: sharedString(namespace),
    name: sharedString(name),
    reads,
    keys: keys === "all" ? "all" : Array.from(keys, sharedString).sort(),
    optional,
    path: sharedString(path),
    ...(annotation === undefined ? {} : { annotation }),
  };
  return requiresMark ? { ...reference, requiresMark } : reference;
}
