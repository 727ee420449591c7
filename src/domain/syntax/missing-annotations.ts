import type { JsonPatch, JsonPatchOperation } from "./json-patch.ts";

const annotations = "/metadata/annotations";

/**
 * Returns the patch in the form that an object without any annotations needs, such as a workload that its Namespace opted
 * in. A JSON Pointer cannot go through a missing field (RFC 6902). So one test for a missing map replaces all tests for
 * missing annotations, and the patch adds the map before its first annotation.
 */
export function forMissingAnnotations(patch: JsonPatch): JsonPatch {
  const remaining = patch.filter((operation) => !testsAbsence(operation));
  const tests: JsonPatch = remaining.length < patch.length ? [{ op: "test", path: annotations, value: null }] : [];
  const first = remaining.findIndex(({ op, path }) => op === "add" && isAnnotation(path));
  if (first === -1) return [...tests, ...remaining];
  return [
    ...tests,
    ...remaining.slice(0, first),
    { op: "add", path: annotations, value: {} },
    ...remaining.slice(first),
  ];
}

function testsAbsence(operation: JsonPatchOperation): boolean {
  return operation.op === "test" && operation.value === null && isAnnotation(operation.path);
}

function isAnnotation(path: string): boolean {
  return path.startsWith(`${annotations}/`);
}
