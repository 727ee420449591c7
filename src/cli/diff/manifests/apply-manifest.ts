// This folder reads manifests and merges them as kubectl apply does. It knows JSON only: no workloads, no cluster.
import { isList, isMap, itemKeys, type Json, type JsonMap } from "./manifest.ts";

/**
 * Returns the object that would be stored after a manifest is applied, merged as `kubectl apply` does: fields of the manifest are set, fields
 * of the last manifest that this manifest lacks are removed, and all other fields stay. Defaults of the API server for new fields and
 * changes by admission are not included.
 */
export function applyManifest(live: JsonMap | undefined, manifest: JsonMap): JsonMap {
  const wanted = withEncodedData(manifest);
  if (live === undefined) return mergedMap({}, wanted);
  const previous = lastAppliedOf(live);
  if (previous === undefined) return mergedMap(live, wanted);
  return mergedMap(removeFields(live, comparableManifest(previous, manifest), wanted, previous.exact), wanted);
}

/**
 * Returns the last manifest without `data` if the new manifest uses `stringData` and only field ownership is known. A removed key of
 * `stringData` stays stored: only `data` is stored, and the tool never applied `data`.
 */
function comparableManifest({ manifest, exact }: LastApplied, { stringData }: JsonMap): JsonMap {
  if (exact || stringData === undefined) return manifest;
  const { data: _, ...rest } = manifest;
  return rest;
}

/** Moves `stringData` of a Secret into `data`, as the API server does: https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/secret-v1/ */
function withEncodedData(manifest: JsonMap): JsonMap {
  const { stringData, ...rest } = manifest;
  if (manifest.kind !== "Secret" || !isMap(stringData)) return manifest;
  const encoded = Object.entries(stringData).map(([key, value]) => [
    key,
    typeof value === "string" ? Buffer.from(value).toString("base64") : value,
  ]);
  return { ...rest, data: { ...(isMap(rest.data) ? rest.data : {}), ...Object.fromEntries(encoded) } };
}

function mergedMap(live: JsonMap, wanted: JsonMap): JsonMap {
  const result = new Map(Object.entries(live));
  for (const [name, value] of Object.entries(wanted)) {
    if (value === null) result.delete(name);
    else if (!result.has(name)) {
      if (!isOmittedWhenStored(name, value)) result.set(name, withoutNull(value));
    } else result.set(name, merged(name, result.get(name), value));
  }
  return Object.fromEntries(result);
}

/** Removes null from a new value: null only removes stored fields. */
function withoutNull(value: Json): Json {
  if (isList(value)) return value.map(withoutNull);
  if (!isMap(value)) return value;
  const present = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(present.map(([name, each]) => [name, withoutNull(each)]));
}

function merged(name: string, live: Json, wanted: Json): Json {
  if (isMap(live) && isMap(wanted)) return mergedMap(live, wanted);
  const keyOf = itemKeys(name);
  if (keyOf !== undefined && isList(live) && isList(wanted) && areDistinct(live, keyOf) && areDistinct(wanted, keyOf))
    return mergedList(live, wanted, keyOf);
  return isEqualWhenStored(wanted, live) ? live : withoutNull(wanted);
}

/** Reports whether the merge keys of the items are unique: a port may occur for TCP and for UDP. */
function areDistinct(items: readonly Json[], keyOf: (item: Json) => Json): boolean {
  const keys = items.map(keyOf).filter((key) => typeof key === "string" || typeof key === "number");
  return new Set(keys).size === items.length;
}

/** Merges lists in the order of the manifest, followed by other stored items. Keeps the stored order if both orders agree. */
function mergedList(live: readonly Json[], wanted: readonly Json[], keyOf: (item: Json) => Json): readonly Json[] {
  const stored = new Map(live.map((item) => [keyOf(item), item]));
  const named = new Map(
    wanted.map((item) => {
      const before = stored.get(keyOf(item));
      return [keyOf(item), isMap(before) && isMap(item) ? mergedMap(before, item) : withoutNull(item)];
    }),
  );
  const common = live.map(keyOf).filter((key) => named.has(key));
  const inOrder = [...named.keys()].filter((key) => stored.has(key)).every((key, index) => key === common[index]);
  const rest = live.filter((item) => !named.has(keyOf(item)));
  if (!inOrder) return [...named.values(), ...rest];
  const added = [...named].flatMap(([key, item]) => (stored.has(key) ? [] : [item]));
  return [...live.map((item) => named.get(keyOf(item)) ?? item), ...added];
}

/** Fields whose value false or 0 the API server omits (`omitempty` without a pointer). */
const falseIsAbsent = new Set(["hostNetwork", "hostPID", "hostIPC", "readOnly", "stdin", "stdinOnce", "tty", "paused"]);
const zeroIsAbsent = new Set(["initialDelaySeconds", "hostPort"]);

/** Reports whether the API server omits a value if the field is absent (`omitempty`). */
function isOmittedWhenStored(name: string, value: Json): boolean {
  if (value === false) return falseIsAbsent.has(name);
  if (value === 0) return zeroIsAbsent.has(name);
  if (isList(value)) return value.length === 0;
  if (isMap(value)) return Object.keys(value).length === 0;
  return value === "" || value === null || value === undefined;
}

/** Fields with defaults inside lists that are replaced as a whole. */
const filledIn = new Set(["expirationSeconds", "apiVersion", "divisor", "defaultMode", "protocol"]);

/** Reports whether a value equals the stored one, apart from what the API server does: it shortens quantities and adds defaults. */
function isEqualWhenStored(value: Json, stored: Json): boolean {
  if (isList(value))
    return (
      isList(stored) &&
      value.length === stored.length &&
      value.every((item, index) => isEqualWhenStored(item, stored[index]))
    );
  if (isMap(value)) return isMap(stored) && isMapStoredAs(value, stored);
  return value === stored || isSameQuantity(value, stored);
}

function isMapStoredAs(value: JsonMap, stored: JsonMap): boolean {
  const asGiven = Object.entries(value).every(([name, each]) =>
    stored[name] === undefined ? isOmittedWhenStored(name, each) : isEqualWhenStored(each, stored[name]),
  );
  return asGiven && Object.keys(stored).every((name) => value[name] !== undefined || filledIn.has(name));
}

/** The factors of the suffixes of quantities: decimal ones from nano to exa, and binary ones. */
const factors: ReadonlyMap<string, number> = new Map([
  ...["n", "u", "m", "", "k", "M", "G", "T", "P", "E"].map((suffix, index) => [suffix, 1000 ** (index - 3)] as const),
  ...["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((suffix, index) => [suffix, 1024 ** (index + 1)] as const),
]);

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/: "1000m" equals "1". */
function isSameQuantity(a: Json, b: Json): boolean {
  const [first, second] = [amountOf(a), amountOf(b)];
  if (first === undefined || second === undefined) return false;
  return Math.abs(first - second) <= Math.abs(first) * 1e-12;
}

function amountOf(value: Json): number | undefined {
  if (typeof value === "number") return value;
  const match =
    typeof value === "string"
      ? /^([+-]?\d{1,30}(?:\.\d{0,30})?(?:e[+-]?\d{1,3})?)([numkKMGTPE]i?)?$/i.exec(value)
      : null;
  if (match === null) return undefined;
  const factor = factors.get(match[2] ?? "");
  return factor === undefined ? undefined : Number(match[1]) * factor;
}

/** The last manifest of an object, as far as the object shows it. */
interface LastApplied {
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
function lastAppliedOf(live: JsonMap): LastApplied | undefined {
  const metadata = isMap(live.metadata) ? live.metadata : {};
  const annotation = isMap(metadata.annotations) ? metadata.annotations[lastApplied] : undefined;
  const stored = typeof annotation === "string" ? parsed(annotation) : undefined;
  if (stored !== undefined) return { manifest: stored, exact: true };
  const entries = (isList(metadata.managedFields) ? metadata.managedFields : []).filter(isMap);
  const applies = entries.filter(({ operation, subresource }) => operation === "Apply" && !subresource);
  const known = appliers.flatMap((name) => applies.filter(({ manager }) => manager === name))[0];
  const applier = known ?? (applies.length === 1 ? applies[0] : undefined);
  if (applier !== undefined) return { manifest: ownedFields(live, applier.fieldsV1), exact: true };
  const updater = entries.find(({ manager, subresource }) => updaters.has(manager) && !subresource);
  return updater === undefined ? undefined : { manifest: ownedFields(live, updater.fieldsV1), exact: false };
}

function parsed(text: string): JsonMap | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Picks the owned fields. `f:name` is a field; without children, the whole field is owned. */
function ownedFields(live: JsonMap, fields: Json): JsonMap {
  if (!isMap(fields)) return {};
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

/** Returns the object without the fields of the last manifest that the new manifest lacks. `exact` is that of {@link LastApplied}. */
function removeFields(live: JsonMap, previous: JsonMap, wanted: JsonMap, exact: boolean): JsonMap {
  const result = new Map(Object.entries(live));
  for (const [name, before] of Object.entries(previous)) {
    const now = result.get(name);
    // Null means that the field was absent. Other clients write the status.
    if (now === undefined || before === null || name === "status") continue;
    const desired = wanted[name];
    const keyOf = itemKeys(name);
    // Keys of other clients stay in these mappings, such as the annotation of kubectl.
    const isGone = desired === undefined && !freeMappings.has(name) && (exact || neverFilledIn.has(name));
    if (keyOf !== undefined && isList(now) && isList(before)) {
      result.set(name, removeItems(now, before, isList(desired) ? desired : [], keyOf, exact));
    } else if (isGone) result.delete(name);
    else if (isMap(now) && isMap(before)) {
      const left = removeFields(now, before, isMap(desired) ? desired : {}, exact || freeMappings.has(name));
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
  exact: boolean,
): readonly Json[] {
  const [before, now] = [previous, wanted].map((items) => new Map(items.map((item) => [keyOf(item), item])));
  return live.flatMap((item) => {
    const [applied, desired] = [before?.get(keyOf(item)), now?.get(keyOf(item))];
    if (!isMap(applied) || !isMap(item)) return [item];
    return isMap(desired) ? [removeFields(item, applied, desired, exact)] : [];
  });
}
