import type { JsonPatch, JsonPatchOperation } from "./json-patch.ts";

const annotations = "/metadata/annotations";

/**
 * A patch of an object that has no annotations at all, as a workload may that its Namespace opted in: a JSON Pointer
 * cannot lead through what is absent (RFC 6902). What is tested to be absent is so with all of them, and the first that is
 * added brings them.
 */
export function onAbsentAnnotations(patch: JsonPatch): JsonPatch {
  const others = patch.filter((operation) => !testsAbsence(operation));
  const tests: JsonPatch = others.length < patch.length ? [{ op: "test", path: annotations, value: null }] : [];
  const first = others.findIndex(({ op, path }) => op === "add" && isOneOfThem(path));
  if (first === -1) return [...tests, ...others];
  return [...tests, ...others.slice(0, first), { op: "add", path: annotations, value: {} }, ...others.slice(first)];
}

function testsAbsence(operation: JsonPatchOperation): boolean {
  return operation.op === "test" && operation.value === null && isOneOfThem(operation.path);
}

function isOneOfThem(path: string): boolean {
  return path.startsWith(`${annotations}/`);
}
