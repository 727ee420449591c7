import type { DaemonSet, Deployment, StatefulSet } from "kubernetes-types/apps/v1.d.ts";
import { budgets, type Excess } from "./budgets.ts";
import { extraReferences } from "./extra-references.ts";
import { mergeReferences } from "./merge-references.ts";
import { type Found, podReferences } from "./pod-references.ts";
import { configKey, type Reference } from "./references.ts";

/** A workload as the API server sends it. */
export type WorkloadObject = Deployment | StatefulSet | DaemonSet;

/** What a workload refers to, or that it is too much. */
export type References =
  | { readonly merged: readonly Reference[]; readonly excess?: undefined }
  | { readonly merged?: undefined; readonly excess: Excess };

/**
 * What a workload refers to, merged per object and way of reading, sorted. Beyond the budgets nothing is kept, and only
 * counted: a few thousand sources and mounts of one volume name millions of keys.
 */
export function referencesOf(object: WorkloadObject): References {
  const kept: Reference[] = [];
  const objects = new Set<string>();
  let places = 0;
  findReferences(object, (reference) => {
    places += reference.keys === "all" ? 1 : Math.max(1, reference.keys.length);
    objects.add(configKey(reference));
    if (places <= budgets.places.most && objects.size <= budgets.objects.most) kept.push(reference);
  });
  if (places > budgets.places.most) return { excess: { budget: "places", count: places } };
  if (objects.size > budgets.objects.most) return { excess: { budget: "objects", count: objects.size } };
  return { merged: mergeReferences(kept) };
}

/**
 * Every reference of a workload to configuration, one for each place where it is written: its pod template's and those
 * of its `extra-…` annotations, whether it has opted in or not.
 */
export function collectReferences(object: WorkloadObject): readonly Reference[] {
  const references: Reference[] = [];
  findReferences(object, (reference) => references.push(reference));
  return references;
}

function findReferences(object: WorkloadObject, found: Found): void {
  const { namespace = "", annotations = {} } = object.metadata ?? {};
  const podSpec = object.spec?.template?.spec;
  // A StatefulSet's claim takes the place of a volume of the same name.
  const claims = object.spec && "volumeClaimTemplates" in object.spec ? (object.spec.volumeClaimTemplates ?? []) : [];
  const claimed = new Set(claims.map(({ metadata }) => metadata?.name));
  const volumes = podSpec?.volumes?.filter(({ name }) => !claimed.has(name)) ?? [];
  if (podSpec) podReferences({ ...podSpec, volumes }, namespace, found);
  for (const reference of extraReferences(annotations, namespace).references) found(reference);
}
