import { isObject, type Json, type MutableJsonObject, objectOf } from "../objects/json.ts";

/**
 * Carries out a JSON Merge Patch (RFC 7386) on a copy: objects merge, null removes, anything else replaces.
 * https://www.rfc-editor.org/rfc/rfc7386
 */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result: MutableJsonObject = { ...objectOf(target) };
  for (const [field, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) delete result[field];
    else result[field] = applyMergePatch(result[field], value);
  }
  return result;
}
