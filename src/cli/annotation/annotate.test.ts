import { describe, expect, it } from "vitest";
import { resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { NamedObject } from "../command/workload-argument.ts";
import { annotate, serverTime } from "./annotate.ts";

const web: NamedObject = { kind: "Deployment", resource: resources.deployments, namespace: "shop", name: "web" };

/** An API server with a clock in the year 2001, and its requests. */
function apiServer() {
  const asked: Parameters<ApiClient["request"]>[0][] = [];
  const request: ApiClient["request"] = async (each) => {
    asked.push(each);
    const managedFields = [
      { manager: "wave", time: "1999-01-01T00:00:00Z" },
      { manager: "wave-cli", time: "2001-01-01T00:00:00Z" },
    ];
    // Only the fields that are read.
    return JSON.parse(JSON.stringify({ metadata: { name: "web", managedFields } }));
  };
  return {
    cluster: { client: { request, stream: () => Promise.reject(), close: async () => {} }, source: "here" },
    asked,
  };
}

describe("annotate", () => {
  it("writes annotations with one request as its own field manager", async () => {
    const { cluster, asked } = apiServer();
    const written = new Set<string>();
    await annotate({ ...cluster, written }, web, { hold: null, "hold-reason": null });
    expect([...written]).toEqual(["deployment/web"]);
    expect(asked).toEqual([
      {
        method: "PATCH",
        path: "/apis/apps/v1/namespaces/shop/deployments/web",
        query: { fieldManager: "wave-cli" },
        body: { metadata: { annotations: { "wave.pusher.com/hold": null, "wave.pusher.com/hold-reason": null } } },
      },
    ]);
  });

  it("reads the time of the API server from a dry-run write", async () => {
    const { cluster, asked } = apiServer();
    expect(await serverTime(cluster, web)).toBe("2001-01-01T00:00:00Z");
    expect(asked.map(({ query }) => query)).toEqual([{ fieldManager: "wave-cli", dryRun: "All" }]);
  });
});
