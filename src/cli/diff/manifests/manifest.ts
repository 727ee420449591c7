import { listKeys } from "../../../../types/list-keys.ts";
import { quoted } from "../../../domain/syntax/names.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import { UsageError } from "../../flags/flag-types.ts";

/** One object that the manifests contain. An item of a List is an object of its own. */
export interface Manifest {
  /** "shop.yaml:12", for messages. */
  readonly place: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** Undefined if the API server generates the name from `generateName`. */
  readonly name: string | undefined;
  /** The namespace in the manifest; undefined if absent. */
  readonly namespace: string | undefined;
  readonly annotations: Readonly<Record<string, string>>;
  /** The object without its status. */
  readonly object: JsonMap;
}

/** Deeper than any object of the API. */
const mostDepth = 200;

/** Returns the objects of a document, and the items of a List. Throws a UsageError for anything that is not a Kubernetes object. */
export function manifestsOf(document: Json, place: string): readonly Manifest[] {
  if (document === null || document === undefined) return [];
  checkDepth(document, place, 0);
  // Some tools write several objects as one list.
  if (isList(document)) return document.flatMap((each) => manifestsOf(each, place));
  const map = mapAt(document, place, "the document");
  const kind = textAt(map.kind, place, "kind");
  const apiVersion = textAt(map.apiVersion, place, "apiVersion");
  if (kind === undefined || apiVersion === undefined)
    throw new UsageError(manifestErrorTexts.notAnObject(place, kind === undefined ? "kind" : "apiVersion"));
  if (kind.endsWith("List") && isList(map.items)) return map.items.flatMap((each) => manifestsOf(each, place));
  const metadata = mapAt(map.metadata ?? {}, place, "metadata");
  const name = textAt(metadata.name, place, "metadata.name");
  if (name === undefined && textAt(metadata.generateName, place, "metadata.generateName") === undefined)
    throw new UsageError(manifestErrorTexts.noName(place, kind));
  textsAt(metadata.labels, place, "metadata.labels");
  const { status: _, ...object } = map;
  return [
    {
      place,
      apiVersion,
      kind,
      name,
      namespace: textAt(metadata.namespace, place, "metadata.namespace"),
      annotations: textsAt(metadata.annotations, place, "metadata.annotations"),
      object,
    },
  ];
}

/** Returns a copy of the manifest with another namespace, also in the metadata of its object. */
export function inNamespace(manifest: Manifest, namespace: string): Manifest {
  const { object } = manifest;
  const metadata = isMap(object.metadata) ? object.metadata : {};
  return { ...manifest, namespace, object: { ...object, metadata: { ...metadata, namespace } } };
}

/** Returns what `make` makes from a manifest. Throws a UsageError with its place if `make` throws. */
export function madeFrom<T>({ place }: Pick<Manifest, "place">, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new UsageError(`${place}: ${errorText(error)}`);
  }
}

/** Returns a manifest for messages: `ConfigMap "page"`. */
export function describeManifest({ kind, name }: Pick<Manifest, "kind" | "name">): string {
  return name === undefined ? `A ${kind} without a name` : `${kind} ${quoted(name)}`;
}

function checkDepth(value: Json, place: string, depth: number): void {
  if (depth > mostDepth) throw new UsageError(manifestErrorTexts.tooDeep(place, String(mostDepth)));
  if (isList(value)) for (const each of value) checkDepth(each, place, depth + 1);
  else if (isMap(value)) for (const each of Object.values(value)) checkDepth(each, place, depth + 1);
}

function mapAt(value: Json, place: string, what: string): JsonMap {
  if (isMap(value)) return value;
  throw new UsageError(manifestErrorTexts.notAMapping(place, what));
}

function textAt(value: Json, place: string, what: string): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return value;
  throw new UsageError(manifestErrorTexts.notAString(place, what));
}

function textsAt(value: Json, place: string, what: string): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  const texts = Object.entries(mapAt(value, place, what)).map(([name, text]) => {
    if (typeof text !== "string") throw new UsageError(manifestErrorTexts.entryNotAString(place, what, name));
    return [name, text] as const;
  });
  return Object.fromEntries(texts);
}

/** Any JSON value; a field that is undefined is absent. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | JsonMap;

/** A JSON object. A field that is undefined is absent. */
export interface JsonMap {
  readonly [name: string]: Json;
}

/** Reports whether a value is a JSON object: neither null nor a list. */
export function isMap(value: Json): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reports whether a value is a JSON list. Keeps the type of the items, unlike `Array.isArray`. */
export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** Returns the function that reads the merge key of an item; undefined if the list is replaced as a whole. */
export function itemKeys(list: string): ((item: Json) => Json) | undefined {
  const rules = Object.hasOwn(listKeys, list) ? (listKeys[list] ?? []) : [];
  const keys = rules.flatMap(({ patch }) => patch ?? []);
  if (keys.length === 0) return undefined;
  return (item) => (isMap(item) ? keys.map((key) => item[key]).find((value) => value !== undefined) : undefined);
}

/** The errors about manifests and their files, one line each. */
export const manifestErrorTexts = {
  noFile: "no manifests given; use -f FILE, -f FOLDER, or -f - for standard input",
  clusterOfBase: (flag: string) => `--base uses no cluster; remove --${flag} or --base`,
  baseOfInput: "standard input cannot be the base; use a file or folder",
  noManifest: (names: string) => `no manifest found in ${names}`,
  emptyFolder: (name: string) => `${name} contains no *.yaml, *.yml or *.json file`,
  fileNotFound: (name: string) => `file or folder ${name} not found`,
  unreadable: (name: string, cause: string) => `cannot read ${name}: ${cause}`,
  tooLarge: (mebibytes: string) => `the manifests exceed ${mebibytes} MiB; use fewer files at once`,
  tooManyObjects: (name: string, limit: string) => `${name}: too many objects; the limit is ${limit}`,
  tooDeep: (place: string, levels: string) => `${place}: the document is nested deeper than ${levels} levels`,
  notAnObject: (place: string, field: string) => `${place}: not a Kubernetes object: ${field} is missing`,
  noName: (place: string, kind: string) => `${place}: ${kind} has no metadata.name`,
  duplicate: (place: string, object: string, first: string) =>
    `${place}: duplicate ${object}; the first is at ${first}`,
  otherNamespace: (place: string, object: string, own: string, given: string) =>
    `${place}: ${object} is in namespace "${own}", but --namespace is "${given}"`,
  notAMapping: (place: string, field: string) => `${place}: ${field} is not a mapping`,
  notAString: (place: string, field: string) => `${place}: ${field} is not a string; put the value in quotes`,
  entryNotAString: (place: string, field: string, name: string) =>
    `${place}: ${field}: ${quoted(name)} is not a string; put the value in quotes`,
} as const;
