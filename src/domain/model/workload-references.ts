import type { DaemonSet, Deployment, StatefulSet } from "kubernetes-types/apps/v1.d.ts";
import type { Asked, CompatibilitySource } from "../compatibility/directive.ts";
import type { Asking } from "../compatibility/directives.ts";
import { extraReferences } from "../references/extra-references.ts";
import { type LimitExceeded, limits } from "../references/limits.ts";
import { mergeReferences } from "../references/merge-references.ts";
import { configKey, type Reference } from "../references/references.ts";
import { type Found, podReferences } from "./pod-references.ts";

/** A workload as the API server sends it. */
export type WorkloadObject = Deployment | StatefulSet | DaemonSet;

/** Which sources of configuration count that have to be switched on. */
type Sources = Pick<Asking, "providerClasses">;

/** What a workload refers to, or that it is too much. */
export type References =
  | { readonly merged: readonly Reference[]; readonly limitExceeded?: undefined }
  | { readonly merged?: undefined; readonly limitExceeded: LimitExceeded };

/**
 * What a workload refers to, merged per object and way of reading, sorted: what the dialects ask for that opted it in, or
 * what Wave's own asks for where no other is understood. Beyond the budgets nothing is kept, and only
 * counted: a few thousand sources and mounts of one volume name millions of keys.
 */
export function referencesOf(object: WorkloadObject, asked?: readonly Asked[], sources: Sources = {}): References {
  const kept: Reference[] = [];
  const objects = new Set<string>();
  let places = 0;
  findReferences(object, asked, sources, (reference) => {
    places += reference.keys === "all" ? 1 : Math.max(1, reference.keys.length);
    objects.add(configKey(reference));
    if (places <= limits.places.most && objects.size <= limits.objects.most) kept.push(reference);
  });
  if (places > limits.places.most) return { limitExceeded: { budget: "places", count: places } };
  if (objects.size > limits.objects.most) return { limitExceeded: { budget: "objects", count: objects.size } };
  return { merged: asked === undefined ? mergeReferences(kept) : withoutMarkedTwice(mergeReferences(kept)) };
}

/** An object that counts anyway does not wait for a mark. */
function withoutMarkedTwice(references: readonly Reference[]): readonly Reference[] {
  if (!references.some(({ ifMarked }) => ifMarked)) return references;
  const anyway = new Set(references.filter(({ ifMarked }) => !ifMarked).map(configKey));
  return references.filter((reference) => !reference.ifMarked || !anyway.has(configKey(reference)));
}

/**
 * Every reference of a workload to configuration, one for each place where it is written: its pod template's and those
 * of its `extra-…` annotations, whether it has opted in or not; or where dialects opted it in, what these ask for.
 */
export function collectReferences(
  object: WorkloadObject,
  asked?: readonly Asked[],
  sources: Sources = {},
): readonly Reference[] {
  const references: Reference[] = [];
  findReferences(object, asked, sources, (reference) => references.push(reference));
  return references;
}

/** The annotations of a workload that dialects read. */
export function sourceOf({ metadata, spec }: WorkloadObject): CompatibilitySource {
  const { namespace = "", annotations } = metadata ?? {};
  return {
    namespace,
    annotations: annotations ?? {},
    templateAnnotations: spec?.template?.metadata?.annotations ?? {},
  };
}

function findReferences(
  object: WorkloadObject,
  asked: readonly Asked[] | undefined,
  { providerClasses = false }: Sources,
  all: Found,
): void {
  const found: Found = (reference) => {
    if (providerClasses || reference.kind !== "SecretProviderClass") all(reference);
  };
  const { namespace = "", annotations = {} } = object.metadata ?? {};
  const podSpec = object.spec?.template?.spec;
  // A StatefulSet's claim takes the place of a volume of the same name.
  const claims = object.spec && "volumeClaimTemplates" in object.spec ? (object.spec.volumeClaimTemplates ?? []) : [];
  const claimed = new Set(claims.map(({ metadata }) => metadata?.name));
  const volumes = podSpec?.volumes?.filter(({ name }) => !claimed.has(name)) ?? [];
  const ofPodSpec = asked === undefined ? found : onlyWhatCounts(asked, found);
  if (podSpec) podReferences({ ...podSpec, volumes }, namespace, ofPodSpec);
  const named = asked?.flatMap((each) => each.named) ?? extraReferences(annotations, namespace).references;
  for (const reference of named) found(reference);
}

/** What somebody asks for; where they ask for it only if its owner marked it, that with the reference. */
function onlyWhatCounts(asked: readonly Asked[], found: Found): Found {
  const askers = asked.map(({ fromPodSpec, excluded }) => ({
    fromPodSpec,
    excluded: {
      ConfigMap: new Set(excluded.ConfigMap),
      Secret: new Set(excluded.Secret),
      SecretProviderClass: new Set(excluded.SecretProviderClass),
    },
  }));
  return (reference) => {
    const { kind, name } = reference;
    const asks = askers.filter(({ excluded }) => !excluded[kind].has(name)).map(({ fromPodSpec }) => fromPodSpec[kind]);
    if (asks.includes("all")) found(reference);
    else if (asks.includes("marked")) found({ ...reference, ifMarked: true });
  };
}
