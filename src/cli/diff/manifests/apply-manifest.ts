import { isList, isMap, itemKeys, type Json, type JsonMap } from "./json.ts";
import { type LastApplied, lastAppliedOf, withoutRemovedFields } from "./last-applied.ts";
import { isEqualWhenStored, isOmittedWhenStored } from "./stored-value.ts";

/**
 * An object as it would be stored after a manifest was applied, as `kubectl apply` merges: what the manifest says is set, what
 * the last one said and this one does not is removed, and everything else stays. What the API server fills in for fields that
 * are new, and what admission changes, is not there.
 */
export function applyManifest(live: JsonMap | undefined, manifest: JsonMap): JsonMap {
  const wanted = withEncodedData(manifest);
  if (live === undefined) return mergedMap({}, wanted);
  const previous = lastAppliedOf(live);
  const kept = previous === undefined ? live : withoutRemovedFields(live, saidOf(previous, manifest), wanted);
  return mergedMap(kept, wanted);
}

/**
 * Who says a Secret's keys in `stringData` removes none by saying it no longer: only `data` is stored, of which the tool never said
 * anything. Where only fields tell who owns them, they are taken to have been said as they are now.
 */
function saidOf(previous: LastApplied, { stringData }: JsonMap): LastApplied {
  if (previous.exact || stringData === undefined) return previous;
  const { data: _, ...rest } = previous.manifest;
  return { ...previous, manifest: rest };
}

/** A Secret's `stringData` is only written: https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/secret-v1/ */
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

/** What is new has no null in it: it only removes. */
function withoutNull(value: Json): Json {
  if (isList(value)) return value.map(withoutNull);
  if (!isMap(value)) return value;
  const said = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(said.map(([name, each]) => [name, withoutNull(each)]));
}

function merged(name: string, live: Json, wanted: Json): Json {
  if (isMap(live) && isMap(wanted)) return mergedMap(live, wanted);
  const keyOf = itemKeys(name);
  if (keyOf !== undefined && isList(live) && isList(wanted) && areDistinct(live, keyOf) && areDistinct(wanted, keyOf))
    return mergedList(live, wanted, keyOf);
  return isEqualWhenStored(wanted, live) ? live : withoutNull(wanted);
}

/** Whether the items can be told apart: a port may be there for TCP and for UDP. */
function areDistinct(items: readonly Json[], keyOf: (item: Json) => Json): boolean {
  const keys = items.map(keyOf).filter((key) => typeof key === "string" || typeof key === "number");
  return new Set(keys).size === items.length;
}

/** In the order of the manifest, what it does not name after that; as it is where the order is the same. */
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
