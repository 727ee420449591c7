import { isList, isMap, itemKeys, type Json, type JsonMap } from "./json.ts";

/** What the last manifest of an object said, as far as the object tells it. */
export interface LastApplied {
  readonly manifest: JsonMap;
  /** Whether it has nothing that the API server filled in. */
  readonly exact: boolean;
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
/** Who applies with updates, and owns what the API server filled in then. */
const updaters: ReadonlySet<Json> = new Set(["helm", "kubectl-client-side-apply", "argocd-controller"]);
/** Who applies, where several do; else it is whoever is alone. */
const appliers: readonly Json[] = ["kubectl", "helm", "argocd-controller", "kustomize-controller", "helm-controller"];

/**
 * What was applied last, by kubectl's own note of it, or else by the fields that are its manager's
 * (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management). Undefined where nobody applied it.
 */
export function lastAppliedOf(live: JsonMap): LastApplied | undefined {
  const metadata = isMap(live.metadata) ? live.metadata : {};
  const note = isMap(metadata.annotations) ? metadata.annotations[lastApplied] : undefined;
  const noted = typeof note === "string" ? parsed(note) : undefined;
  if (noted !== undefined) return { manifest: noted, exact: true };
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

/** `f:name` is a field; without anything below it is the whole of it. */
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

/** `k:{"name":"web"}` is the item with this name. What tells it apart may be filled in: the protocol of a port. */
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

/** Fields that the API server never fills in: whoever owns one said it. */
const neverFilledIn = new Set(
  "command args envFrom value valueFrom livenessProbe readinessProbe startupProbe lifecycle affinity tolerations subPath".split(
    " ",
  ),
);
/** Mappings in which every field is somebody's. */
const ofPeople = new Set(["data", "binaryData", "annotations", "labels", "nodeSelector"]);

/** The object without what the last manifest said and this one does not. */
export function withoutRemovedFields(live: JsonMap, { manifest, exact }: LastApplied, wanted: JsonMap): JsonMap {
  return forget(live, manifest, wanted, () => exact);
}

function forget(live: JsonMap, previous: JsonMap, wanted: JsonMap, isSaid: (name: string) => boolean): JsonMap {
  const result = new Map(Object.entries(live));
  for (const [name, before] of Object.entries(previous)) {
    const now = result.get(name);
    // Null was said of what is not there, and a status is written by others.
    if (now === undefined || before === null || name === "status") continue;
    const said = wanted[name];
    const below = ofPeople.has(name) ? () => true : isSaid;
    const keyOf = itemKeys(name);
    // What others wrote into these mappings stays, such as kubectl's note of the annotations.
    const isGone = said === undefined && !ofPeople.has(name) && (isSaid(name) || neverFilledIn.has(name));
    if (keyOf !== undefined && isList(now) && isList(before)) {
      result.set(name, forgetItems(now, before, isList(said) ? said : [], keyOf, isSaid));
    } else if (isGone) result.delete(name);
    else if (isMap(now) && isMap(before)) {
      const left = forget(now, before, isMap(said) ? said : {}, below);
      const wasEmptied = !isMap(said) && Object.keys(left).length === 0 && Object.keys(now).length > 0;
      if (wasEmptied) result.delete(name);
      else result.set(name, left);
    }
  }
  return Object.fromEntries(result);
}

function forgetItems(
  live: readonly Json[],
  previous: readonly Json[],
  wanted: readonly Json[],
  keyOf: (item: Json) => Json,
  isSaid: (name: string) => boolean,
): readonly Json[] {
  const [before, now] = [previous, wanted].map((items) => new Map(items.map((item) => [keyOf(item), item])));
  return live.flatMap((item) => {
    const [said, says] = [before?.get(keyOf(item)), now?.get(keyOf(item))];
    if (!isMap(said) || !isMap(item)) return [item];
    return isMap(says) ? [forget(item, said, says, isSaid)] : [];
  });
}
