import { isList, isObject, type Json, type JsonObject, type MutableJsonObject, objectOf } from "./json.ts";
import { badRequest } from "./status-error.ts";

/** Maps that the API leaves out where they are empty. */
const omittedWhenEmpty = new Set([
  ...["labels", "annotations", "data", "binaryData", "stringData", "nodeSelector", "matchLabels", "limits", "requests"],
]);

/** Free-form JSON of another component, stored unchanged. */
const raw = new Set(["fieldsV1"]);

/**
 * Returns an object as the API server stores it: without nulls, empty lists and empty maps such as `labels`, and with a Secret's
 * `stringData` in `data`. A JSON Patch depends on this, because it cannot add an annotation to an absent map.
 * Throws 400 if a Secret's `data` is not base64.
 */
export function normalized(kind: string, object: JsonObject): JsonObject {
  const result: MutableJsonObject = {};
  for (const [field, value] of Object.entries(object)) {
    const kept = kind === "ControllerRevision" && field === "data" ? value : normalizedField(field, value);
    if (kept !== undefined) result[field] = kept;
  }
  return kind === "Secret" ? withStringData(result) : result;
}

/** The value itself where nothing is to be left out: what is stored already is the same object then. */
function normalizedField(field: string, value: Json | undefined): Json | undefined {
  if (value === null || value === undefined) return undefined;
  if (raw.has(field)) return value;
  if (isList(value)) return value.length === 0 ? undefined : normalizedList(value);
  if (!isObject(value)) return value;
  const names = Object.keys(value);
  const fields = names.flatMap((name): [string, Json][] => {
    const kept = normalizedField(name, value[name]);
    return kept === undefined ? [] : [[name, kept]];
  });
  if (fields.length === 0 && omittedWhenEmpty.has(field)) return undefined;
  const same = fields.length === names.length && fields.every(([name, kept]) => kept === value[name]);
  return same ? value : Object.fromEntries(fields);
}

function normalizedList(list: readonly Json[]): readonly Json[] {
  const items = list.map((item) => normalizedField("", item) ?? item);
  return items.every((item, index) => item === list[index]) ? list : items;
}

/**
 * Returns a value with the fields of each object by name; the value itself if they are. A client or a webhook may write them in another order.
 * A real API server has one order: that of the definition for the fields of a kind, and by name for the keys of a map.
 */
export function inFieldOrder(value: Json): Json {
  if (isList(value)) {
    const items = value.map(inFieldOrder);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isObject(value)) return value;
  const names = Object.keys(value);
  const fields = names.toSorted().map((name): [string, Json | undefined] => {
    const field = value[name];
    return [name, field === undefined || raw.has(name) ? field : inFieldOrder(field)];
  });
  const same = fields.every(([name, field], index) => name === names[index] && field === value[name]);
  return same ? value : Object.fromEntries(fields);
}

/** A Secret's stringData is write-only: it lands in data, in base64, over what is there. */
function withStringData({ stringData, ...secret }: JsonObject): JsonObject {
  const data: MutableJsonObject = {};
  for (const [key, value] of Object.entries(objectOf(secret.data))) data[key] = canonicalBase64(String(value));
  for (const [key, value] of Object.entries(objectOf(stringData))) {
    data[key] = Buffer.from(String(value)).toString("base64");
  }
  return Object.keys(data).length === 0 ? { ...secret, data: undefined } : { ...secret, data };
}

function canonicalBase64(text: string): string {
  const compact = text.replaceAll(/[\r\n]/g, "");
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(compact)) {
    throw badRequest('Secret in version "v1" cannot be handled as a Secret: illegal base64 data');
  }
  return compact;
}
