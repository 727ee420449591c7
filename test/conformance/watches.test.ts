import { expect, it } from "vitest";
import { take } from "./api.ts";
import { describeApiServers } from "./targets.ts";

const initialEvents = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" };

describeApiServers("watches", (target) => {
  const secrets = () => `${target().namespace}/secrets`;
  const contentType = "application/merge-patch+json";
  const resourceVersion = async () => (await target().api.call("GET", secrets())).body.metadata.resourceVersion;
  const create = (name: string, more: object = {}) => {
    return target().api.call("POST", secrets(), { body: { metadata: { name }, ...more } });
  };
  const change = (name: string, body: object) =>
    target().api.call("PATCH", `${secrets()}/${name}`, { body, contentType });

  it("report each write after their resourceVersion, in order", async () => {
    const from = await resourceVersion();
    await create("told");
    await change("told", { stringData: { a: "b" } });
    await target().api.call("DELETE", `${secrets()}/told`);
    const lines = await take(target().api.watch(secrets(), { resourceVersion: from }), 3);
    expect(lines.map(({ type }) => type)).toEqual(["ADDED", "MODIFIED", "DELETED"]);
    const versions = lines.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(new Set(versions).size).toBe(3);
    expect(lines[2]?.object).toMatchObject({ kind: "Secret", metadata: { name: "told" }, data: { a: "Yg==" } });
  });

  it("resume after the last event that the client received", async () => {
    const from = await resourceVersion();
    await create("seen");
    const [seen] = await take(target().api.watch(secrets(), { resourceVersion: from }), 1);
    await create("unseen");
    const resumed = { resourceVersion: String(seen?.object.metadata.resourceVersion) };
    const [next] = await take(target().api.watch(secrets(), resumed), 1);
    expect(next).toMatchObject({ type: "ADDED", object: { metadata: { name: "unseen" } } });
  });

  it("do not report a write that changes nothing", async () => {
    await create("quiet", { stringData: { a: "b" } });
    const from = await resourceVersion();
    await change("quiet", { data: { a: "Yg==" } });
    await create("loud");
    const [first] = await take(target().api.watch(secrets(), { resourceVersion: from }), 1);
    expect(first?.object.metadata.name).toBe("loud");
  });

  it("send the existing objects and then a bookmark with the annotation for their end", async () => {
    await create("there");
    const { body } = await target().api.call("GET", secrets());
    const count = (body.items as unknown[]).length;
    const lines = await take(target().api.watch(secrets(), initialEvents), count + 1);
    expect(lines.slice(0, -1).every(({ type }) => type === "ADDED")).toBe(true);
    expect(lines.slice(0, -1).map(({ object }) => object.metadata.name)).toContain("there");
    expect(lines.at(-1)).toMatchObject({
      type: "BOOKMARK",
      object: { kind: "Secret", metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
    });
    const bookmark = Number(lines.at(-1)?.object.metadata.resourceVersion);
    expect(bookmark).toBeGreaterThanOrEqual(Number(body.metadata.resourceVersion));
  });

  it("send the existing objects without Helm's releases by a field selector", async () => {
    await create("release", { type: "helm.sh/release.v1" });
    const query = { ...initialEvents, fieldSelector: "type!=helm.sh/release.v1" };
    const names: string[] = [];
    for await (const { type, object } of target().api.watch(secrets(), query)) {
      if (type === "BOOKMARK") break;
      names.push(object.metadata.name);
    }
    expect(names).not.toContain("release");
  });

  it("refuse sendInitialEvents without resourceVersionMatch with 422", async () => {
    const { status } = await target().api.call("GET", secrets(), { query: { watch: "1", sendInitialEvents: "true" } });
    expect(status).toBe(422);
  });

  it("report an object that no longer matches as deleted, and an object that matches again as added", async () => {
    await create("moving", { metadata: { name: "moving", labels: { in: "yes" } } });
    const from = await resourceVersion();
    await change("moving", { metadata: { labels: { in: "no" } } });
    await change("moving", { metadata: { labels: { in: "yes" } } });
    const lines = await take(target().api.watch(secrets(), { resourceVersion: from, labelSelector: "in=yes" }), 2);
    expect(lines.map(({ type }) => type)).toEqual(["DELETED", "ADDED"]);
  });

  it("end after timeoutSeconds", async () => {
    const query = {
      resourceVersion: await resourceVersion(),
      fieldSelector: "metadata.name=none",
      timeoutSeconds: "1",
    };
    expect(await take(target().api.watch(secrets(), query), 100)).toEqual([]);
  });

  it("from a lost resourceVersion receive an ERROR event 410 Expired, and end", async () => {
    const { path, resourceVersion } = await target().expired();
    const lines = await take(target().api.watch(path, { resourceVersion }), 100);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      type: "ERROR",
      object: { kind: "Status", status: "Failure", reason: "Expired", code: 410 },
    });
    expect(lines[0]?.object.message).toMatch(/^too old resource version: 1 \(\d+\)$/);
  });

  it("send the existing objects even if the resourceVersion is lost", async () => {
    const { path, resourceVersion } = await target().expired();
    const lines = await take(target().api.watch(path, { ...initialEvents, resourceVersion, timeoutSeconds: "1" }), 100);
    expect(lines.map(({ type }) => type)).not.toContain("ERROR");
    expect(lines.map(({ type }) => type)).toContain("BOOKMARK");
  });

  it("of one name receive only that object", async () => {
    const from = await resourceVersion();
    await create("other");
    await create("mine");
    const query = { resourceVersion: from, fieldSelector: "metadata.name=mine" };
    const [first] = await take(target().api.watch(secrets(), query), 1);
    expect(first?.object.metadata.name).toBe("mine");
  });
});
