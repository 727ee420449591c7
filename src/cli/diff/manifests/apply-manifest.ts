// This folder reads manifests and merges them as kubectl apply does. It knows JSON only: no workloads, no cluster.
import { isList, isMap, itemKeys, type Json, type JsonMap } from "./json.ts";
import { type LastApplied, lastAppliedOf, withoutRemovedFields } from "./last-applied.ts";
import { isEqualWhenStored, isOmittedWhenStored } from "./stored-value.ts";

/**
 * Returns the object that would be stored after a manifest is applied, merged as `kubectl apply` does: fields of the manifest are set, fields
 * of the last manifest that this manifest lacks are removed, and all other fields stay. Defaults of the API server for new fields and
 * changes by admission are not included.
 */
export function applyManifest(live: JsonMap | undefined, manifest: JsonMap): JsonMap {
  const wanted = withEncodedData(manifest);
  if (live === undefined) return mergedMap({}, wanted);
  const previous = lastAppliedOf(live);
  const kept =
    previous === undefined ? live : withoutRemovedFields(live, comparableManifest(previous, manifest), wanted);
  return mergedMap(kept, wanted);
}

/**
 * Returns the last manifest without `data` if the new manifest uses `stringData` and only field ownership is known. A removed key of
 * `stringData` stays stored: only `data` is stored, and the tool never applied `data`.
 */
function comparableManifest(previous: LastApplied, { stringData }: JsonMap): LastApplied {
  if (previous.exact || stringData === undefined) return previous;
  const { data: _, ...rest } = previous.manifest;
  return { ...previous, manifest: rest };
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
