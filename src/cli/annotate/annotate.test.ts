import { describe, expect, it } from "vitest";
import { resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { NamedObject } from "../command/named-object.ts";
import { annotate, serverTime } from "./annotate.ts";

const web: NamedObject = { kind: "Deployment", resource: resources.deployments, namespace: "shop", name: "web" };

/** An API server whose clock says 2001, and what it was asked. */
function apiServer() {
  const asked: Parameters<ApiClient["request"]>[0][] = [];
  const request: ApiClient["request"] = async (each) => {
    asked.push(each);
    const managedFields = [
      { manager: "wave", time: "1999-01-01T00:00:00Z" },
      { manager: "wave-cli", time: "2001-01-01T00:00:00Z" },
    ];
    // Only as much of an object as is looked at.
    return JSON.parse(JSON.stringify({ metadata: { name: "web", managedFields } }));
  };
  return {
    cluster: { client: { request, stream: () => Promise.reject(), close: async () => {} }, source: "here" },
    asked,
  };
}

describe("what a command writes", () => {
  it("is one annotation, as a field manager of its own", async () => {
    const { cluster, asked } = apiServer();
    await annotate(cluster, web, "hold", null);
    expect(asked).toEqual([
      {
        method: "PATCH",
        path: "/apis/apps/v1/namespaces/shop/deployments/web",
        query: { fieldManager: "wave-cli" },
        body: { metadata: { annotations: { "wave.pusher.com/hold": null } } },
      },
    ]);
  });

  it("has the time of the API server, which a write that is only tried tells", async () => {
    const { cluster, asked } = apiServer();
    expect(await serverTime(cluster, web)).toBe("2001-01-01T00:00:00Z");
    expect(asked.map(({ query }) => query)).toEqual([{ fieldManager: "wave-cli", dryRun: "All" }]);
  });
});
