import { quoted } from "../../../domain/syntax/wording.ts";
import { UsageError } from "../../flags/usage-error.ts";
import { isList, isMap, type Json, type JsonMap } from "./json.ts";
import { manifestErrorTexts } from "./manifest-error-texts.ts";

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
