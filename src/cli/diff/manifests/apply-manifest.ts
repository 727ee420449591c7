// This folder reads manifests and merges them as kubectl apply does. It knows JSON only: no workloads, no cluster.
import { isList, isMap, itemKeys, type Json, type JsonMap } from "./json.ts";
import { type LastApplied, lastAppliedOf, withoutRemovedFields } from "./last-applied.ts";

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

/**
 * Reports whether a value equals the stored value, apart from how the API server writes it: quantities in their shortest form, and
 * defaults.
 */
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

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

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
  const factor = factors[match[2] ?? ""];
  return factor === undefined ? undefined : Number(match[1]) * factor;
}
