import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  type MutableJsonObject,
  objectOf,
  sameJson,
} from "../objects/json.ts";
import { badRequest } from "../objects/status-error.ts";
import { listMerge } from "./list-keys.ts";

/**
 * Carries out a strategic merge patch on a copy: like a merge patch, but lists with a merge key merge item by item, and
 * the directives `$patch`, `$retainKeys`, `$setElementOrder/…` and `$deleteFromPrimitiveList/…` count.
 * https://github.com/kubernetes/community/blob/main/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 * Throws 400 on a directive that does not exist or an item without its merge key.
 */
export function applyStrategicMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  if (patch.$patch === "replace") return withoutDirectives(patch);
  if (patch.$patch === "delete") return {};
  if (patch.$patch !== undefined && patch.$patch !== "merge") {
    throw badRequest(`Unknown patch type found: ${JSON.stringify(patch.$patch)}: use replace, delete or merge`);
  }
  const result: MutableJsonObject = retained(objectOf(target), patch.$retainKeys);
  for (const [field, value] of Object.entries(patch)) {
    if (value === undefined || field.startsWith("$")) continue;
    if (value === null) delete result[field];
    else if (isList(value)) result[field] = mergedList(field, result[field], value);
    else result[field] = applyStrategicMergePatch(result[field], value);
  }
  applyListDirectives(result, patch);
  return result;
}

/** `$retainKeys` names the only fields that stay, for unions like a Deployment's strategy or a volume's source. */
function retained(target: JsonObject, keys: Json | undefined): MutableJsonObject {
  if (!isList(keys)) return { ...target };
  return Object.fromEntries(Object.entries(target).filter(([field]) => keys.includes(field)));
}

/** The value as it is, without the directives that came with it. */
function withoutDirectives(value: Json): Json {
  if (isList(value)) return value.map(withoutDirectives);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).filter(([field, item]) => !field.startsWith("$") && item !== undefined);
  return Object.fromEntries(fields.map(([field, item]) => [field, withoutDirectives(item ?? null)]));
}

function mergedList(field: string, current: Json | undefined, patch: readonly Json[]): Json {
  const items = isList(current) ? current : [];
  if (patch.some((item) => isObject(item) && item.$patch === "replace")) {
    return patch.filter((item) => !(isObject(item) && item.$patch === "replace")).map(withoutDirectives);
  }
  const merge = listMerge(field, [...items, ...patch]);
  if (merge.type === "set") return [...items, ...patch.filter((item) => !items.includes(item))];
  const key = merge.type === "map" ? merge.patch : undefined;
  if (key === undefined) return patch.map(withoutDirectives);
  return patch.reduce<Json[]>((list, item) => mergedItem(field, list, item, key), [...items]);
}

function mergedItem(field: string, items: Json[], item: Json, key: string): Json[] {
  const value = isObject(item) ? item[key] : undefined;
  if (!isObject(item) || value === undefined)
    throw badRequest(`map: ${field} does not contain declared merge key: ${key}`);
  const index = items.findIndex((candidate) => isObject(candidate) && sameJson(candidate[key], value));
  if (item.$patch === "delete") return items.filter((_, position) => position !== index);
  if (index < 0) return [...items, applyStrategicMergePatch({}, item)];
  return items.with(index, applyStrategicMergePatch(items[index], item));
}

/** Directives that stand beside the list that they are about. */
function applyListDirectives(result: MutableJsonObject, patch: JsonObject): void {
  for (const [directive, value] of Object.entries(patch)) {
    const [name, field] = directive.split("/", 2);
    if (field === undefined || !isList(value)) continue;
    const items = result[field];
    if (!isList(items)) continue;
    if (name === "$deleteFromPrimitiveList") result[field] = items.filter((item) => !value.includes(item));
    if (name === "$setElementOrder") result[field] = ordered(field, items, value);
  }
}

/** Items that the order names come in that order; those it does not name keep to the item they stood behind. */
function ordered(field: string, items: readonly Json[], order: readonly Json[]): Json[] {
  const merge = listMerge(field, items);
  const key = merge.type === "map" ? merge.patch : undefined;
  const identity = (item: Json) => (key === undefined ? item : (objectOf(item)[key] ?? null));
  const rank = (item: Json) => order.findIndex((named) => sameJson(identity(named), identity(item)));
  let last = -1;
  const ranked = items.map((item, index) => {
    const own = rank(item);
    if (own >= 0) last = own;
    return { item, index, rank: own >= 0 ? own : last, named: own >= 0 };
  });
  ranked.sort((a, b) => a.rank - b.rank || Number(b.named) - Number(a.named) || a.index - b.index);
  return ranked.map(({ item }) => item);
}
