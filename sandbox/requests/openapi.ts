import type { JsonObject } from "../objects/json.ts";
import { builtInResources, resources } from "../objects/resources.ts";

/** Paths of groups as the index of OpenAPI documents names them: `api/v1`, `apis/apps/v1`. */
function groupPath(group: string): string {
  return group === "" ? "api/v1" : `apis/${group}/v1`;
}

/**
 * Returns the OpenAPI v3 document of a path; undefined for an unknown path. kubectl reads these documents before it writes.
 * https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
 * They contain the kinds, and that the server validates fields and supports dry runs. The only schema is the part of a custom
 * resource that Wave reads.
 */
export function openApiDocument(path: string): JsonObject | undefined {
  if (path === "/openapi/v3") {
    const groups = [...new Set(builtInResources.map(({ group }) => group))];
    const paths = groups.map((group) => [groupPath(group), { serverRelativeURL: `/openapi/v3/${groupPath(group)}` }]);
    return { paths: Object.fromEntries(paths) };
  }
  if (path === `/openapi/v3/${groupPath(resources.widgets.group)}`) return widgetDocument;
  const rows = builtInResources.filter(({ group }) => path === `/openapi/v3/${groupPath(group)}`);
  if (rows.length === 0) return undefined;
  const info = { title: "Kubernetes", version: "v1.36.0" };
  const paths = rows.map(({ group, version, kind, plural, namespaced }) => {
    const parameters = ["dryRun", "fieldManager", "fieldValidation", "force"].map((name) => ({
      name,
      in: "query",
      schema: { type: name === "force" ? "boolean" : "string", uniqueItems: true },
    }));
    const operation = {
      parameters,
      responses: { "200": { description: "OK" } },
      "x-kubernetes-group-version-kind": { group, version, kind },
    };
    const scope = namespaced ? "namespaces/{namespace}/" : "";
    return [`/${groupPath(group)}/${scope}${plural}/{name}`, { patch: operation }];
  });
  return { openapi: "3.0.0", info, paths: Object.fromEntries(paths), components: { schemas: {} } };
}

const { group, version, kind } = resources.widgets;
const counts = ["observedGeneration", "replicas", "updatedReplicas", "availableReplicas"];

/** Of a custom resource: what its status may have. */
const widgetDocument: JsonObject = {
  openapi: "3.0.0",
  info: { title: "Kubernetes CRD Swagger", version: "v0.1.0" },
  paths: {},
  components: {
    schemas: {
      [`com.${group.split(".")[0]}.${version}.${kind}`]: {
        type: "object",
        properties: {
          status: {
            type: "object",
            properties: Object.fromEntries(counts.map((name) => [name, { type: "integer" }])),
          },
        },
        "x-kubernetes-group-version-kind": [{ group, version, kind }],
      },
    },
  },
};
