import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { configMaps, create, type Line, start, watch } from "../../test/support/sandbox-client.ts";

describe("a sandbox's watches", () => {
  it("break when connections are dropped, and resume", async () => {
    const sandbox = await start();
    const lines = watch(sandbox, "resourceVersion=1");
    await create(sandbox, configMaps, { metadata: { name: "a" } });
    const first = await lines.next();
    const version = first.value?.object.metadata.resourceVersion ?? "";
    const broken = expect(lines.next()).rejects.toThrow("terminated");
    sandbox.dropConnections();
    await broken;
    await create(sandbox, configMaps, { metadata: { name: "b" } });
    const resumed = await watch(sandbox, `resourceVersion=${version}`).next();
    expect(resumed.value).toMatchObject({ type: "ADDED", object: { metadata: { name: "b" } } });
  });

  it("get 410 for a version before the kept history, and no 410 within it", async () => {
    const sandbox = await start({ historySize: 3, controllers: false });
    const versions: string[] = [];
    for (const name of ["a", "b", "c", "d"]) {
      const made = (await (await create(sandbox, configMaps, { metadata: { name } })).json()) as Line["object"];
      versions.push(made.metadata.resourceVersion ?? "");
    }
    const kept = await watch(sandbox, `resourceVersion=${versions[0]}`).next();
    expect(kept.value).toMatchObject({ type: "ADDED", object: { metadata: { name: "b" } } });
    const lost = await watch(sandbox, `resourceVersion=${Number(versions[0]) - 1}`).next();
    expect(lost.value).toMatchObject({ type: "ERROR", object: { code: 410 } });
  });

  it("get 410 after the history expired, even if they have seen everything", async () => {
    const sandbox = await start();
    const list = (await (await fetch(`${sandbox.url}${configMaps}`)).json()) as Line["object"];
    sandbox.expireHistory();
    const lost = await watch(sandbox, `resourceVersion=${list.metadata.resourceVersion}`).next();
    expect(lost.value).toMatchObject({ type: "ERROR", object: { code: 410 } });
    const token = `${configMaps}?limit=1&continue=${Buffer.from('{"rv":2,"start":"default/a"}').toString("base64url")}`;
    expect((await fetch(sandbox.url + token)).status).toBe(410);
  });

  it("get bookmarks at intervals and before their end, if they request bookmarks", async () => {
    const clock = new FakeClock();
    const sandbox = await start({ clock, bookmarkMs: 10_000, controllers: false });
    const lines = watch(sandbox, "resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=15");
    const first = lines.next();
    await expect.poll(() => sandbox.requests.length).toBe(1);
    await clock.advance(10_000);
    expect((await first).value).toMatchObject({ type: "BOOKMARK", object: { kind: "ConfigMap" } });
    await create(sandbox, configMaps, { metadata: { name: "a" } });
    await clock.advance(5_000);
    const rest: Line[] = [];
    for await (const line of lines) rest.push(line);
    expect(rest.map(({ type }) => type)).toEqual(["ADDED", "BOOKMARK"]);
    expect(rest[1]?.object.metadata.resourceVersion).toBe(rest[0]?.object.metadata.resourceVersion);
  });
});
