/** One operation of a JSON Patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: "test" | "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/** A JSON Patch (RFC 6902): every operation, or none. */
export type JsonPatch = readonly JsonPatchOperation[];

/** An annotation's name as a part of a JSON Pointer (RFC 6901). */
export function annotationPath(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The names of the fields, from the outermost, that a JSON Pointer (RFC 6901) goes through. */
export function namesIn(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** What stands where a JSON Pointer points to; undefined where there is nothing. */
export function valueAt(object: unknown, pointer: string): unknown {
  return namesIn(pointer).reduce((inside: unknown, name) => {
    const isThere = typeof inside === "object" && inside !== null && Object.hasOwn(inside, name);
    return isThere ? (inside as Readonly<Record<string, unknown>>)[name] : undefined;
  }, object);
}
