import type { Body, Reply } from "./api.ts";
import type { Target } from "./targets.ts";

/** The content type of a JSON Patch (RFC 6902). */
export const json = "application/json-patch+json";
/** The content type of a merge patch (RFC 7386). */
export const merge = "application/merge-patch+json";
/** The content type of a strategic merge patch, which can merge the lists of built-in kinds. */
export const strategic = "application/strategic-merge-patch+json";
/** The content type of server-side apply. */
export const apply = "application/apply-patch+yaml";

/** A container in the responses to patches. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly object[];
}

/** A Deployment without Pods, with two containers and a volume: lists that patches merge. */
export function deployment(name: string): object {
  return {
    metadata: { name, annotations: { a: "b" } },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          containers: [
            { name: "main", image: "nginx:1", env: [{ name: "A", value: "1" }], ports: [{ containerPort: 80 }] },
            { name: "side", image: "proxy:1" },
          ],
          volumes: [{ name: "config", configMap: { name: "config" } }],
        },
      },
    },
  };
}

/** Returns the requests that tests of patches send in the namespace of a target. */
export function patching(target: () => Target) {
  return {
    configMaps: () => `${target().namespace}/configmaps`,
    apps: (plural: string) => `/apis/apps/v1/namespaces/${target().namespaceName}/${plural}`,
    create: async (path: string, body: object): Promise<Body> => (await target().api.call("POST", path, { body })).body,
    patch: (path: string, contentType: string, body: unknown, query: Record<string, string> = {}): Promise<Reply> =>
      target().api.call("PATCH", path, { body, contentType, query }),
    template: (body: Body) =>
      (body.spec as { template: { metadata: object; spec: { containers: Container[] } } }).template,
  };
}
