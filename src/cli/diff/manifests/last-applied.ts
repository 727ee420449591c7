import { isList, isMap, itemKeys, type Json, type JsonMap } from "./json.ts";

/** The last manifest of an object, as far as the object shows it. */
export interface LastApplied {
  readonly manifest: JsonMap;
  /** Whether the manifest contains no defaults of the API server. */
  readonly exact: boolean;
}

/** The annotation in which `kubectl apply` stores the manifest. */
export const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
/** Field managers that apply by update, and so also own defaults of the API server. */
const updaters: ReadonlySet<Json> = new Set(["helm", "kubectl-client-side-apply", "argocd-controller"]);
/** The preferred field manager if several apply the object. */
const appliers: readonly Json[] = ["kubectl", "helm", "argocd-controller", "kustomize-controller", "helm-controller"];

/**
 * Returns the last applied manifest: from the annotation of kubectl, otherwise from the fields that a field manager owns
 * (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management). Returns undefined if no tool applied the object.
 */
export function lastAppliedOf(live: JsonMap): LastApplied | undefined {
  const metadata = isMap(live.metadata) ? live.metadata : {};
  const annotation = isMap(metadata.annotations) ? metadata.annotations[lastApplied] : undefined;
  const stored = typeof annotation === "string" ? parsed(annotation) : undefined;
  if (stored !== undefined) return { manifest: stored, exact: true };
  const entries = (isList(metadata.managedFields) ? metadata.managedFields : []).filter(isMap);
  const applies = entries.filter(({ operation, subresource }) => operation === "Apply" && !subresource);
  const known = appliers.flatMap((name) => applies.filter(({ manager }) => manager === name))[0];
  const applier = known ?? (applies.length === 1 ? applies[0] : undefined);
  if (applier !== undefined) return { manifest: owned(live, applier.fieldsV1), exact: true };
  const updater = entries.find(({ manager, subresource }) => updaters.has(manager) && !subresource);
  return updater === undefined ? undefined : { manifest: owned(live, updater.fieldsV1), exact: false };
}

function parsed(text: string): JsonMap | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function owned(live: JsonMap, fields: Json): JsonMap {
  return isMap(fields) ? ownedFields(live, fields) : {};
}

/** Picks the owned fields. `f:name` is a field; without children, the whole field is owned. */
function ownedFields(live: JsonMap, fields: JsonMap): JsonMap {
  const picked = Object.entries(fields).flatMap(([key, below]) => {
    const name = key.slice(2);
    const value = live[name];
    if (!key.startsWith("f:") || value === undefined || !isMap(below)) return [];
    if (isMap(value) && Object.keys(below).length > 0) return [[name, ownedFields(value, below)] as const];
    if (isList(value) && Object.keys(below).length > 0) return [[name, ownedItems(value, below)] as const];
    return [[name, value] as const];
  });
  return Object.fromEntries(picked);
}

/** Picks the owned items. `k:{"name":"web"}` is the item with this name. A key field may be a default, such as the protocol of a port. */
function ownedItems(live: readonly Json[], fields: JsonMap): readonly Json[] {
  const items: Json[] = [];
  for (const [key, below] of Object.entries(fields)) {
    const wanted = key.startsWith("k:") ? parsed(key.slice(2)) : undefined;
    if (wanted === undefined || !isMap(below)) continue;
    const isWanted = (item: Json) => isMap(item) && Object.entries(wanted).every(([name, is]) => item[name] === is);
    const item = live.find(isWanted);
    if (isMap(item)) items.push(ownedFields(item, below));
  }
  return items;
}

/** Fields without defaults: an owned field was in the manifest. */
const neverFilledIn = new Set(
  "command args envFrom value valueFrom livenessProbe readinessProbe startupProbe lifecycle affinity tolerations subPath".split(
    " ",
  ),
);
/** Mappings without defaults: every key was in a manifest. */
const freeMappings = new Set(["data", "binaryData", "annotations", "labels", "nodeSelector"]);

/** Returns the object without the fields of the last manifest that the new manifest lacks. */
export function withoutRemovedFields(live: JsonMap, { manifest, exact }: LastApplied, wanted: JsonMap): JsonMap {
  return removeFields(live, manifest, wanted, () => exact);
}

function removeFields(
  live: JsonMap,
  previous: JsonMap,
  wanted: JsonMap,
  wasApplied: (name: string) => boolean,
): JsonMap {
  const result = new Map(Object.entries(live));
  for (const [name, before] of Object.entries(previous)) {
    const now = result.get(name);
    // Null means that the field was absent. Other clients write the status.
    if (now === undefined || before === null || name === "status") continue;
    const desired = wanted[name];
    const below = freeMappings.has(name) ? () => true : wasApplied;
    const keyOf = itemKeys(name);
    // Keys of other clients stay in these mappings, such as the annotation of kubectl.
    const isGone = desired === undefined && !freeMappings.has(name) && (wasApplied(name) || neverFilledIn.has(name));
    if (keyOf !== undefined && isList(now) && isList(before)) {
      result.set(name, removeItems(now, before, isList(desired) ? desired : [], keyOf, wasApplied));
    } else if (isGone) result.delete(name);
    else if (isMap(now) && isMap(before)) {
      const left = removeFields(now, before, isMap(desired) ? desired : {}, below);
      const wasEmptied = !isMap(desired) && Object.keys(left).length === 0 && Object.keys(now).length > 0;
      if (wasEmptied) result.delete(name);
      else result.set(name, left);
    }
  }
  return Object.fromEntries(result);
}

function removeItems(
  live: readonly Json[],
  previous: readonly Json[],
  wanted: readonly Json[],
  keyOf: (item: Json) => Json,
  wasApplied: (name: string) => boolean,
): readonly Json[] {
  const [before, now] = [previous, wanted].map((items) => new Map(items.map((item) => [keyOf(item), item])));
  return live.flatMap((item) => {
    const [applied, desired] = [before?.get(keyOf(item)), now?.get(keyOf(item))];
    if (!isMap(applied) || !isMap(item)) return [item];
    return isMap(desired) ? [removeFields(item, applied, desired, wasApplied)] : [];
  });
}
