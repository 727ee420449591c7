import type { JsonPatch, JsonPatchOperation } from "./json-patch.ts";

const annotations = "/metadata/annotations";

/**
 * The same patch for an object that has no annotations at all, such as a workload that its Namespace opted in. A JSON
 * Pointer cannot lead through what is absent (RFC 6902). So one test that there are no annotations stands for all tests
 * that one is absent, and the map is added before the first annotation.
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
