/** One operation of a JSON Patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: "test" | "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/** A JSON Patch (RFC 6902). The API server applies all of its operations or rejects the patch. */
export type JsonPatch = readonly JsonPatchOperation[];

/** Returns the JSON Pointer (RFC 6901) of an annotation. `metadata` is the pointer of the metadata that carry it. */
export function annotationPointer(name: string, metadata = "/metadata"): string {
  return `${metadata}/annotations/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Returns the field names of a JSON Pointer (RFC 6901), from the outermost to the innermost. */
export function pointerSegments(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Returns the value at a JSON Pointer; undefined if a field on the way is missing. */
export function valueAtPointer(object: unknown, pointer: string): unknown {
  return pointerSegments(pointer).reduce((inside: unknown, name) => {
    const exists = typeof inside === "object" && inside !== null && Object.hasOwn(inside, name);
    return exists ? (inside as Readonly<Record<string, unknown>>)[name] : undefined;
  }, object);
}

const annotations = "/metadata/annotations";

/**
 * Returns the patch in the form that an object without any annotations needs, such as a workload that its Namespace opted in: it adds the map
 * before its first annotation, because a JSON Pointer cannot go through a missing field (RFC 6902).
 */
export function forMissingAnnotations(patch: JsonPatch): JsonPatch {
  const first = patch.findIndex(({ op, path }) => op === "add" && path.startsWith(`${annotations}/`));
  return first === -1 ? patch : patch.toSpliced(first, 0, { op: "add", path: annotations, value: {} });
}

/**
 * Reports whether two JSON values are equal. A property with value undefined equals a missing property. Compares each part
 * once.
 */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameElements(a, b);
  return sameProperties(a, b);
}

function sameElements(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((element, index) => equalJson(element, b[index]));
}

function sameProperties(a: object, b: object): boolean {
  return (
    Object.keys(a).every((name) => equalJson(property(a, name), property(b, name))) &&
    Object.keys(b).every((name) => Object.hasOwn(a, name) || property(b, name) === undefined)
  );
}

function property(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Returns a number of a status or spec; undefined if the value is not a number. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Returns the fields of a spec or status of unknown type; no fields if the value is not an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** Returns a text of a spec or status; "" if the value is not a text. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/**
 * Returns the copy of a string that the JavaScript engine keeps for property names. That copy is contiguous, equal strings share it,
 * and the engine frees it when it is unused. A table of our own would need its own cleanup. Tens of thousands of objects have the
 * same few namespaces, paths and keys, and JSON.parse creates a new string for each value.
 */
export function sharedString(text: string): string {
  table[text] = undefined;
  const internalized = Object.keys(table)[0] ?? text;
  delete table[text];
  return internalized;
}

/** Empty between calls. An object without prototype is a hash table from the start. An object literal would create a hidden class for each name. */
const table: Record<string, undefined> = Object.create(null);

/**
 * Returns a function that keeps at most `maxEntries` results of `compute`, so that texts from users cannot grow it. Keeps at least the half
 * of them that was used last: it fills one map with what is used, and then drops the map that it filled before. A single map in the
 * order of the last use would change at each call.
 */
export function boundedMemo<T>(maxEntries: number, compute: (text: string) => T): (text: string) => T {
  let recent = new Map<string, T>();
  let older = new Map<string, T>();
  return (text) => {
    if (recent.has(text)) return recent.get(text) as T;
    const found = older.has(text) ? (older.get(text) as T) : compute(text);
    if (recent.size >= maxEntries / 2) {
      older = recent;
      recent = new Map();
    }
    recent.set(text, found);
    return found;
  };
}
