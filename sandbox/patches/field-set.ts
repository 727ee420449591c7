import { isList, isObject, type Json, type JsonObject, objectOf, sameJson } from "../objects/json.ts";
import { isAtomicObject, itemKeys, listMerge } from "./list-keys.ts";

/**
 * Fields of an object, each as a path: parts like `f:spec`, `k:{"name":"c"}` or `v:"x"` joined by NUL.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/ (FieldsV1)
 */
export type FieldSet = ReadonlySet<string>;

const separator = "\u0000";

/** Returns a path with one more part at its end. */
export function below(path: string, part: string): string {
  return path === "" ? part : path + separator + part;
}

/** Returns the parts of a path. */
export function partsOf(path: string): readonly string[] {
  return path.split(separator);
}

/** Reports whether `path` is the other path or is below it. */
export function isWithin(path: string, other: string): boolean {
  return path === other || path.startsWith(other + separator);
}

/** Returns the fields that are in `a`, in `b` or in both. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  return new Set([...a, ...b]);
}

/** Returns the fields of `a` that are not in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return new Set([...a].filter((field) => !b.has(field)));
}

/** What the API server never counts as anybody's field. */
const nobodys = new Set(
  [
    ...["name", "namespace", "uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink"],
    ...["deletionTimestamp", "deletionGracePeriodSeconds"],
  ].map((field) => `f:metadata${separator}f:${field}`),
)
  .add("f:apiVersion")
  .add("f:kind");

/** Fields that always exist, so that no manager owns them. */
const structural = new Set([
  ...["metadata", "spec", "status", "template", "strategy", "updateStrategy", "containers", "webhooks"],
]);

/** One part of a list or object with the part of a path that names it. */
interface Child {
  readonly part: string;
  readonly field: string;
  readonly value: Json;
  readonly isItem: boolean;
}

/** Returns the parts of a value for ownership; undefined if it is owned as a whole. */
function childrenOf(field: string, value: Json | undefined): readonly Child[] | undefined {
  if (isObject(value)) {
    if (isAtomicObject(field)) return undefined;
    return Object.entries(value).flatMap(([name, item]) =>
      item === undefined ? [] : [{ part: `f:${name}`, field: name, value: item, isItem: false }],
    );
  }
  if (!isList(value)) return undefined;
  const merge = listMerge(field, value);
  if (merge.type === "atomic") return undefined;
  return value.map((item) => {
    const part = merge.type === "set" ? `v:${JSON.stringify(item)}` : `k:${JSON.stringify(itemKeys(item, merge))}`;
    return { part, field: "", value: item, isItem: true };
  });
}

/** What a write did to an object's fields. */
export interface FieldChanges {
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/** Compares two versions of an object field by field. */
export function compareFields(before: Json | undefined, after: Json | undefined): FieldChanges {
  const changed = new Set<string>();
  const removed = new Set<string>();
  const gone = (path: string, field: string, value: Json): void => {
    if (nobodys.has(path)) return;
    removed.add(path);
    for (const child of childrenOf(field, value) ?? []) gone(below(path, child.part), child.field, child.value);
  };
  const visit = (path: string, field: string, old: Json | undefined, now: Json, isItem: boolean): void => {
    if (nobodys.has(path) || (old !== undefined && sameJson(old, now))) return;
    const children = childrenOf(field, now);
    const oldChildren = childrenOf(field, old);
    if (path !== "" && (children === undefined || isItem || isNewContainer(field, old, children))) changed.add(path);
    if (children === undefined) {
      for (const child of oldChildren ?? []) gone(below(path, child.part), child.field, child.value);
      return;
    }
    const olds = new Map((oldChildren ?? []).map((child) => [child.part, child]));
    for (const child of children) {
      visit(below(path, child.part), child.field, olds.get(child.part)?.value, child.value, child.isItem);
      olds.delete(child.part);
    }
    for (const child of olds.values()) gone(below(path, child.part), child.field, child.value);
  };
  if (after !== undefined) visit("", "", before, after, false);
  return { changed, removed };
}

function isNewContainer(field: string, old: Json | undefined, children: readonly Child[]): boolean {
  if (structural.has(field)) return false;
  return old === undefined || children.length === 0;
}

/** Returns the fields that an applied configuration specifies: its values and the list items that contain them. */
export function fieldsNamedBy(configuration: JsonObject): FieldSet {
  const named = new Set<string>();
  const visit = (path: string, field: string, value: Json, isItem: boolean): void => {
    if (nobodys.has(path)) return;
    const children = childrenOf(field, value);
    if (path !== "" && (isItem || children === undefined || children.length === 0)) named.add(path);
    for (const child of children ?? []) visit(below(path, child.part), child.field, child.value, child.isItem);
  };
  visit("", "", configuration, false);
  return named;
}

/** Returns the value at a path in an object; undefined if the path does not exist. */
export function valueOfField(object: Json, path: string): Json | undefined {
  let current: Json | undefined = object;
  let field = "";
  for (const part of partsOf(path)) {
    current = childrenOf(field, current)?.find((child) => child.part === part)?.value;
    field = part.startsWith("f:") ? part.slice(2) : "";
  }
  return current;
}

/** Returns the object without the field at a path. */
export function withoutField(object: Json, path: string): Json {
  const remove = (value: Json, field: string, parts: readonly string[]): Json | undefined => {
    const [part, ...rest] = parts;
    if (part === undefined) return undefined;
    const children = childrenOf(field, value) ?? [];
    const kept = children.flatMap((child) => {
      const left = child.part === part ? remove(child.value, child.field, rest) : child.value;
      return left === undefined ? [] : [{ ...child, value: left }];
    });
    if (isList(value)) return kept.map((child) => child.value);
    return Object.fromEntries(kept.map((child) => [child.field, child.value]));
  };
  return remove(object, "", partsOf(path)) ?? {};
}

/** Formats a path for messages, for example `.spec.template.spec.containers[name="c"].image`. */
export function formatField(path: string): string {
  return partsOf(path)
    .map((part) => {
      const rest = part.slice(2);
      if (part.startsWith("f:")) return `.${rest}`;
      if (part.startsWith("v:")) return `[=${rest}]`;
      const keys = Object.entries(objectOf(JSON.parse(rest) as Json));
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
    })
    .join("");
}
