import { type JsonPatch, pointerSegments } from "../../../src/domain/syntax/json.ts";

/** Applies replace and remove operations, as the API server does. Throws an Error if a field of one does not exist. */
export function patched<T>(object: T, patch: JsonPatch): T {
  // A structured clone would keep objects shared.
  const result: T = JSON.parse(JSON.stringify(object));
  for (const operation of patch) {
    const path = [...pointerSegments(operation.path)];
    const last = path.pop() ?? "";
    // biome-ignore lint/suspicious/noExplicitAny: any JSON.
    const parent = path.reduce((at: any, name) => at[name], result);
    if (!Object.hasOwn(parent, last)) throw new Error(`${operation.path} does not exist`);
    if (operation.op !== "remove") parent[last] = operation.value;
    else if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else delete parent[last];
  }
  return result;
}
