import { beforeAll, expect, it } from "vitest";
import type { Body } from "./api.ts";
import { describeApiServers } from "./targets.ts";

describeApiServers("lists", (target) => {
  const secrets = () => `${target().namespace}/secrets`;
  const names = (body: Body) => (body.items as Body[]).map(({ metadata }) => metadata.name);

  beforeAll(async () => {
    for (const name of ["a", "b", "c", "d", "e"]) {
      const type = name === "c" ? "helm.sh/release.v1" : "Opaque";
      await target().api.call("POST", secrets(), {
        body: { metadata: { name, labels: { letter: name, half: name < "c" ? "first" : "second" } }, type },
      });
    }
  });

  it("are in the order of names, with a resourceVersion", async () => {
    const { body } = await target().api.call("GET", secrets());
    expect(body.kind).toBe("SecretList");
    expect(names(body)).toEqual(["a", "b", "c", "d", "e"]);
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(0);
    expect((body.items as Body[])[0]).not.toHaveProperty("kind");
  });

  it("consist of pages that all show the same moment", async () => {
    const { body: first } = await target().api.call("GET", secrets(), { query: { limit: "2" } });
    expect(names(first)).toEqual(["a", "b"]);
    expect(first.metadata.remainingItemCount).toBe(3);
    await target().api.call("POST", secrets(), { body: { metadata: { name: "bb" } } });
    const token = String(first.metadata.continue);
    const { body: second } = await target().api.call("GET", secrets(), { query: { limit: "2", continue: token } });
    expect(names(second)).toEqual(["c", "d"]);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const next = String(second.metadata.continue);
    const { body: third } = await target().api.call("GET", secrets(), { query: { limit: "2", continue: next } });
    expect(names(third)).toEqual(["e"]);
    expect(third.metadata.continue ?? "").toBe("");
    await target().api.call("DELETE", `${secrets()}/bb`);
  });

  it("refuse an invalid token with 400", async () => {
    const { status, body } = await target().api.call("GET", secrets(), { query: { limit: "2", continue: "nonsense" } });
    expect(status).toBe(400);
    expect(body.reason).toBe("BadRequest");
  });

  it("leave out Helm's releases by a field selector", async () => {
    const { body } = await target().api.call("GET", secrets(), {
      query: { fieldSelector: "type!=helm.sh/release.v1" },
    });
    expect(names(body)).toEqual(["a", "b", "d", "e"]);
  });

  it("refuse a field selector that the kind does not support with 400", async () => {
    const { status } = await target().api.call("GET", secrets(), { query: { fieldSelector: "data.a=b" } });
    expect(status).toBe(400);
  });

  const selectors: [string, string[]][] = [
    ["letter=a", ["a"]],
    ["letter==a", ["a"]],
    ["letter!=a,half=first", ["b"]],
    ["letter in (a, e)", ["a", "e"]],
    ["letter notin (a,b),half", ["c", "d", "e"]],
    ["!half", []],
  ];
  it.each(selectors)("accept the label selector %s", async (labelSelector, expected) => {
    const { body } = await target().api.call("GET", secrets(), { query: { labelSelector } });
    expect(names(body)).toEqual(expected);
  });

  it("refuse sendInitialEvents, which only watches support, with 422", async () => {
    const { status, body } = await target().api.call("GET", secrets(), { query: { sendInitialEvents: "true" } });
    expect(status).toBe(422);
    expect(body.reason).toBe("Invalid");
  });

  it("show exactly the earlier moment that is requested", async () => {
    const { body: before } = await target().api.call("GET", secrets());
    await target().api.call("POST", secrets(), { body: { metadata: { name: "later" } } });
    const query = { resourceVersion: before.metadata.resourceVersion, resourceVersionMatch: "Exact" };
    const { body } = await target().api.call("GET", secrets(), { query });
    expect(names(body)).toEqual(["a", "b", "c", "d", "e"]);
    await target().api.call("DELETE", `${secrets()}/later`);
  });

  it("refuse a moment in the future with 504", async () => {
    const query = { resourceVersion: "99999999", resourceVersionMatch: "NotOlderThan" };
    const { status, body } = await target().api.call("GET", secrets(), { query });
    expect(status).toBe(504);
    expect(body).toMatchObject({ reason: "Timeout", details: { causes: [{ reason: "ResourceVersionTooLarge" }] } });
  });

  it("are available as a table for people", async () => {
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    const { body } = await target().api.call("GET", secrets(), { headers: { accept }, query: { limit: "1" } });
    expect(body.kind).toBe("Table");
    expect((body.columnDefinitions as { name: string }[]).map(({ name }) => name)).toEqual([
      "Name",
      "Type",
      "Data",
      "Age",
    ]);
    expect((body.rows as { cells: unknown[] }[])[0]?.cells.slice(0, 3)).toEqual(["a", "Opaque", 0]);
  });
});
