import { type JsonObject, objectOf } from "../objects/json.ts";
import type { ApiObject } from "../objects/object.ts";
import type { SandboxResource } from "../objects/resources.ts";
import { StatusError } from "../objects/status-error.ts";
import { columnsOf } from "./columns.ts";
import { type ListPage, listObject } from "./list.ts";
import type { WatchEvent } from "./watch.ts";

/** The form in which a client wants objects. */
export type Representation =
  | { readonly type: "object" }
  | { readonly type: "metadata" }
  | { readonly type: "table"; readonly include: "None" | "Metadata" | "Object" };

/**
 * Reads the Accept header; the first form that is known counts.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables
 * Throws 406 where the client takes no JSON.
 */
export function representationOf(accept: string, query: URLSearchParams): Representation {
  if (accept === "") return { type: "object" };
  for (const form of accept.split(",")) {
    const [type, ...parameters] = form.split(";").map((part) => part.trim());
    if (type !== "application/json" && type !== "*/*" && type !== "application/*") continue;
    const as = parameters.find((parameter) => parameter.startsWith("as="))?.slice(3);
    if (as === undefined) return { type: "object" };
    if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return { type: "metadata" };
    if (as === "Table" && parameters.includes("v=v1")) return { type: "table", include: included(query) };
  }
  const known = "only the following media types are accepted: application/json";
  throw new StatusError(406, "NotAcceptable", known, {});
}

function included(query: URLSearchParams): "None" | "Metadata" | "Object" {
  const asked = query.get("includeObject");
  return asked === "None" || asked === "Object" ? asked : "Metadata";
}

const meta = { apiVersion: "meta.k8s.io/v1" } as const;

function metadataOnly({ metadata }: ApiObject): JsonObject {
  return { kind: "PartialObjectMetadata", ...meta, metadata };
}

/** Converts an object to the requested form. */
export function representObject(
  form: Representation,
  resource: SandboxResource,
  object: ApiObject,
  now: number,
): JsonObject {
  if (form.type === "object") return object;
  if (form.type === "metadata") return metadataOnly(object);
  return table(form.include, resource, [object], { resourceVersion: object.metadata.resourceVersion }, now, true);
}

/** Converts a page of a list to the requested form. */
export function representList(
  form: Representation,
  resource: SandboxResource,
  page: ListPage,
  now: number,
): JsonObject {
  if (form.type === "object") return listObject(resource, page);
  if (form.type === "table") return table(form.include, resource, page.items, page.metadata, now, true);
  return { kind: "PartialObjectMetadataList", ...meta, metadata: page.metadata, items: page.items.map(metadataOnly) };
}

/** Turns the events of one watch into the form asked for; a table says its columns once. */
export function watchRepresentation(
  form: Representation,
  resource: SandboxResource,
  now: () => number,
): (event: WatchEvent) => JsonObject {
  let first = true;
  return (event) => {
    const { type, object } = event;
    if (form.type === "object" || event.type === "ERROR") return { type, object };
    if (form.type === "metadata") {
      return { type, object: { kind: "PartialObjectMetadata", ...meta, metadata: object.metadata } };
    }
    const rows = event.type === "BOOKMARK" ? [] : [event.object];
    const body = table(form.include, resource, rows, objectOf(object.metadata), now(), first);
    first = false;
    return { type, object: body };
  };
}

function table(
  include: "None" | "Metadata" | "Object",
  { kind }: SandboxResource,
  objects: readonly ApiObject[],
  metadata: JsonObject,
  now: number,
  withColumns: boolean,
): JsonObject {
  const columns = columnsOf(kind);
  const columnDefinitions = columns.map(({ name, type, priority }) => {
    return { name, type, format: name === "Name" ? "name" : "", description: "", priority };
  });
  const rows = objects.map((object) => ({
    cells: columns.map(({ cell }) => cell(object, now)),
    object: include === "None" ? undefined : include === "Object" ? object : metadataOnly(object),
  }));
  return { kind: "Table", ...meta, metadata, columnDefinitions: withColumns ? columnDefinitions : null, rows };
}
