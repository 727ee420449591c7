import { isList, isObject, type Json, type JsonObject, objectOf, sameJson } from "../objects/json.ts";
import { badRequest, unprocessablePatch } from "../objects/status-error.ts";

/**
 * Carries out a JSON Patch (RFC 6902) on a copy. https://www.rfc-editor.org/rfc/rfc6902
 * Throws 400 where the patch is no list of operations, 422 where a `test` fails or a path is not there.
 */
export function applyJsonPatch(target: Json, patch: Json): Json {
  if (!isList(patch)) {
    throw badRequest(
      "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    );
  }
  return patch.reduce<Json>((current, operation) => applyOperation(current, objectOf(operation)), target);
}

function applyOperation(target: Json, operation: JsonObject): Json {
  const path = segmentsOf(operation.path);
  switch (operation.op) {
    case "add":
      return edit(target, path, (parent, field) => inserted(parent, field, operation.value ?? null));
    case "remove":
      return edit(target, path, removed);
    case "replace":
      return edit(target, path, (parent, field) => replaced(parent, field, operation.value ?? null));
    case "test":
      if (!passes(target, path, operation.value ?? null)) throw unprocessablePatch();
      return target;
    case "copy": {
      const value = read(target, segmentsOf(operation.from));
      return edit(target, path, (parent, field) => inserted(parent, field, value));
    }
    case "move": {
      const from = segmentsOf(operation.from);
      const value = read(target, from);
      return edit(edit(target, from, removed), path, (parent, field) => inserted(parent, field, value));
    }
    default:
      throw unprocessablePatch();
  }
}

/** A JSON Pointer's parts. https://www.rfc-editor.org/rfc/rfc6901 */
function segmentsOf(pointer: Json | undefined): readonly string[] {
  if (typeof pointer !== "string" || !(pointer === "" || pointer.startsWith("/"))) throw unprocessablePatch();
  return pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function child(parent: Json, field: string): Json | undefined {
  if (isObject(parent)) return parent[field];
  if (isList(parent) && /^\d+$/.test(field)) return parent[Number(field)];
  return undefined;
}

function read(target: Json, path: readonly string[]): Json {
  let current: Json | undefined = target;
  for (const field of path) {
    current = child(current, field);
    if (current === undefined) throw unprocessablePatch();
  }
  return current;
}

/** A path that is not there passes a test for null, as in the library that the API server uses. */
function passes(target: Json, path: readonly string[], expected: Json): boolean {
  const parent = path.length === 0 ? target : read(target, path.slice(0, -1));
  const value = path.length === 0 ? target : child(parent, path.at(-1) ?? "");
  return sameJson(value ?? null, expected);
}

type ParentEdit = (parent: Json, field: string) => Json;

function edit(target: Json, path: readonly string[], change: ParentEdit): Json {
  const [field, ...rest] = path;
  if (field === undefined) throw unprocessablePatch();
  if (rest.length === 0) return change(target, field);
  const value = child(target, field);
  if (value === undefined) throw unprocessablePatch();
  return replaced(target, field, edit(value, rest, change));
}

function inserted(parent: Json, field: string, value: Json): Json {
  if (isObject(parent)) return { ...parent, [field]: value };
  if (!isList(parent)) throw unprocessablePatch();
  const index = field === "-" ? parent.length : Number(field);
  if (!/^(\d+|-)$/.test(field) || index > parent.length) throw unprocessablePatch();
  return parent.toSpliced(index, 0, value);
}

/** Unlike RFC 6902 the API server takes a replacement of a field that is not there as an addition. */
function replaced(parent: Json, field: string, value: Json): Json {
  if (isList(parent)) {
    if (child(parent, field) === undefined) throw unprocessablePatch();
    return parent.with(Number(field), value);
  }
  if (isObject(parent)) return { ...parent, [field]: value };
  throw unprocessablePatch();
}

function removed(parent: Json, field: string): Json {
  if (child(parent, field) === undefined) throw unprocessablePatch();
  if (isList(parent)) return parent.toSpliced(Number(field), 1);
  return Object.fromEntries(Object.entries(objectOf(parent)).filter(([name]) => name !== field));
}
