/** One operation of a JSON Patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: "test" | "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/** A JSON Patch (RFC 6902). */
export type JsonPatch = readonly JsonPatchOperation[];
