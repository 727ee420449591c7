import type { JsonObject } from "../objects/json.ts";
import { allResources, builtInResources, type SandboxResource } from "../objects/resources.ts";

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const subresourceVerbs = ["get", "patch", "update"];
const groupsOf = (rows: readonly SandboxResource[]) =>
  [...new Set(rows.map(({ group }) => group))].filter((group) => group !== "");
const groups = groupsOf(builtInResources);
const allGroups = groupsOf(allResources);

/**
 * Returns the discovery document of a path, from which a client learns the kinds of the API; undefined for another path. `accept`
 * decides between one document and many.
 * https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
 */
export function discoveryDocument(path: string, accept: string): JsonObject | undefined {
  const aggregated = accept.includes("as=APIGroupDiscoveryList") && accept.includes("v=v2;");
  if (path === "/api") return aggregated || accept.includes("v=v2,") ? aggregatedDiscovery([""]) : apiVersions();
  if (path === "/apis") return aggregated || accept.includes("v=v2,") ? aggregatedDiscovery(groups) : groupList();
  if (path === "/api/v1") return resourceList("");
  const group = /^\/apis\/([^/]+)(\/v1)?$/.exec(path);
  if (group === null || !allGroups.includes(group[1] ?? "")) return undefined;
  return group[2] === undefined
    ? { kind: "APIGroup", apiVersion: "v1", ...groupOf(group[1] ?? "") }
    : resourceList(group[1] ?? "");
}

/** Returns the content type of a discovery document. */
export function discoveryContentType(document: JsonObject): string {
  if (document.kind !== "APIGroupDiscoveryList") return "application/json";
  return "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
}

function apiVersions(): JsonObject {
  return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
}

function groupList(): JsonObject {
  return { kind: "APIGroupList", apiVersion: "v1", groups: groups.map(groupOf) };
}

function groupOf(name: string): JsonObject {
  const version = { groupVersion: `${name}/v1`, version: "v1" };
  return { name, versions: [version], preferredVersion: version };
}

function resourcesOf(group: string): SandboxResource[] {
  return allResources.filter((resource) => resource.group === group);
}

function resourceList(group: string): JsonObject {
  const groupVersion = group === "" ? "v1" : `${group}/v1`;
  const resources = resourcesOf(group).flatMap((resource) => [
    {
      name: resource.plural,
      singularName: resource.singular,
      namespaced: resource.namespaced,
      kind: resource.kind,
      verbs,
      shortNames: resource.shortNames.length === 0 ? undefined : resource.shortNames,
      categories: resource.inAll ? ["all"] : undefined,
    },
    ...resource.subresources.map((subresource) => ({
      name: `${resource.plural}/${subresource}`,
      singularName: "",
      namespaced: resource.namespaced,
      ...(subresource === "scale" ? { group: "autoscaling", version: "v1", kind: "Scale" } : { kind: resource.kind }),
      verbs: subresourceVerbs,
    })),
  ]);
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources };
}

function aggregatedDiscovery(names: readonly string[]): JsonObject {
  const items = names.map((name) => ({
    metadata: name === "" ? {} : { name },
    versions: [{ version: "v1", freshness: "Current", resources: resourcesOf(name).map(aggregatedResource) }],
  }));
  return { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
}

function aggregatedResource(resource: SandboxResource): JsonObject {
  const { group, version, kind } = resource;
  const subresources = resource.subresources.map((subresource) => ({
    subresource,
    responseKind:
      subresource === "scale" ? { group: "autoscaling", version: "v1", kind: "Scale" } : { group, version, kind },
    verbs: subresourceVerbs,
  }));
  return {
    resource: resource.plural,
    responseKind: { group, version, kind },
    scope: resource.namespaced ? "Namespaced" : "Cluster",
    singularResource: resource.singular,
    verbs,
    shortNames: resource.shortNames.length === 0 ? undefined : resource.shortNames,
    categories: resource.inAll ? ["all"] : undefined,
    subresources: subresources.length === 0 ? undefined : subresources,
  };
}
