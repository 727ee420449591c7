import { allResources, type SandboxResource } from "../objects/resources.ts";

/** What a request's path names. https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris */
export type Target =
  | { readonly type: "path"; readonly path: string }
  | {
      readonly type: "resource";
      readonly resource: SandboxResource;
      readonly namespace: string | undefined;
      readonly name: string | undefined;
      readonly subresource: "status" | "scale" | "eviction" | undefined;
    };

const byPath: ReadonlyMap<string, SandboxResource> = new Map(
  allResources.map((resource) => [`${resource.group}/${resource.version}/${resource.plural}`, resource]),
);

/** Reads a path; one that names no kind of the table stays a path. */
export function parseTarget(path: string): Target {
  const none: Target = { type: "path", path };
  const parts = path
    .split("/")
    .filter((part) => part !== "")
    .map(decodeURIComponent);
  const isCore = parts[0] === "api";
  if (!isCore && parts[0] !== "apis") return none;
  const [group, version, ...rest] = isCore ? ["", ...parts.slice(1)] : parts.slice(1);
  // A namespace itself is a resource; what lies below one is namespaced.
  const below = rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "status" && rest[2] !== "finalize";
  const [plural, name, subresource, ...more] = below ? rest.slice(2) : rest;
  const resource = byPath.get(`${group}/${version}/${plural}`);
  if (resource === undefined || more.length > 0) return none;
  const namespace = below ? rest[1] : undefined;
  // Objects of namespaced kinds are named below a namespace; lists reach over all.
  if (below !== resource.namespaced && (below || name !== undefined)) return none;
  if (subresource === "finalize" && resource.kind === "Namespace") {
    return { type: "resource", resource, namespace, name, subresource: undefined };
  }
  // Only for the Eviction API. Unlike the others, it is created and never read.
  if (subresource === "eviction" && resource.kind === "Pod") {
    return { type: "resource", resource, namespace, name, subresource };
  }
  if (subresource !== undefined && subresource !== "status" && subresource !== "scale") return none;
  if (subresource !== undefined && !resource.subresources.includes(subresource)) return none;
  return { type: "resource", resource, namespace, name, subresource };
}

/** Returns the Kubernetes verb of a request: get, list, watch, create, update, patch, delete or deletecollection. */
export function verbOf(method: string, named: boolean, watch: boolean): string {
  switch (method) {
    case "GET":
    case "HEAD":
      if (watch) return "watch";
      return named ? "get" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return named ? "delete" : "deletecollection";
    default:
      return method.toLowerCase();
  }
}

/** Reports whether a query parameter is `true` or `1`. */
export function isTrue(value: string | null): boolean {
  return value === "true" || value === "1";
}
