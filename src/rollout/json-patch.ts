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
