import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";
import { type Ended, kubeconfigFile, runWave } from "../../../test/support/cli/terminal.ts";

const [east, west] = await Promise.all([startSandbox({ controllers: false }), startSandbox({ controllers: false })]);
afterAll(() => Promise.all([east.close(), west.close()]));

/** A server that is not there any more, so that its port refuses connections. */
const gone = await startSandbox({ controllers: false });
await gone.close();

const servers = { east: east.url, west: west.url, gone: gone.url };
const kubeconfig = kubeconfigFile({
  apiVersion: "v1",
  kind: "Config",
  clusters: Object.entries(servers).map(([name, server]) => ({ name, cluster: { server } })),
  users: [{ name: "admin", user: { token: "admin" } }],
  contexts: Object.keys(servers).map((name) => ({
    name,
    context: { cluster: name, user: "admin", namespace: "shop" },
  })),
  "current-context": "west",
});

for (const [sandbox, hold] of [
  [east, "false"],
  [west, "true"],
] as const) {
  const { createNamespace, createConfigMap, createWorkload } = commandScene(sandbox, "shop");
  await createNamespace("shop");
  await createConfigMap("page", "1");
  await createWorkload("deployments/web", { annotations: { "wave.pusher.com/hold": hold } });
}

const list = (...args: readonly string[]) => runWave(["list", ...args], { KUBECONFIG: kubeconfig, WAVE_SETTLE: "0" });

/** The columns of the table up to the state. */
function rows({ out }: Ended): readonly (readonly string[])[] {
  const lines = out.trimEnd().split("\n");
  return lines.map((line) => line.split(/ {3,}/).slice(0, 4));
}

describe("wave list --contexts", () => {
  it("shows the workloads of several clusters in one table, in the order of the contexts", async () => {
    const ended = await list("--contexts=west,east");
    expect(ended).toMatchObject({ code: 0, err: "" });
    expect(rows(ended)).toEqual([
      ["CLUSTER", "NAMESPACE", "NAME", "STATE"],
      ["west", "shop", "deployment/web", "held"],
      ["east", "shop", "deployment/web", "due"],
    ]);
    const held = await list("--contexts", "west", "--contexts", "east", "--state=held", "-n", "shop");
    expect(rows(held).map((row) => row.slice(0, 3))).toEqual([
      ["CLUSTER", "NAME", "STATE"],
      ["west", "deployment/web", "held"],
    ]);
  });

  it("names the cluster of each item in JSON, and of one cluster as without the flag", async () => {
    const { out } = await list("--contexts=west,east", "-ojson");
    const items: readonly object[] = JSON.parse(out).items;
    expect(items).toMatchObject([
      { cluster: "west", namespace: "shop", name: "web", state: "held" },
      { cluster: "east", namespace: "shop", name: "web", state: "due" },
    ]);
    const alone: readonly object[] = JSON.parse((await list("-ojson")).out).items;
    expect(items[0]).toEqual({ cluster: "west", ...alone[0] });
  });

  it("shows the others if a cluster is unreachable, with one error line and exit code 3", async () => {
    const ended = await list("--contexts=east,gone,west");
    expect(ended.code).toBe(3);
    expect(ended.err).toMatch(/^error: [^\n]*\(context gone of [^\n]*\)\n$/);
    expect(rows(ended).map(([cluster]) => cluster)).toEqual(["CLUSTER", "east", "west"]);
    const alone = await list("--contexts=gone");
    expect(alone).toEqual({ code: 3, out: "", err: ended.err });
  });

  it("shows the others if a context does not exist, with one error line and exit code 2", async () => {
    const ended = await list("--contexts=east,nort");
    expect(ended.code).toBe(2);
    expect(ended.err).toMatch(/^error: [^\n]*context nort not found \(available: east, west, gone\)\n$/);
    expect(rows(ended).map(([cluster]) => cluster)).toEqual(["CLUSTER", "east"]);
  });

  it("shows what could be read of a cluster, with a warning that names the context", async () => {
    west.faults.add({ match: ({ path }) => path.includes("/daemonsets"), action: { type: "status", status: 403 } });
    const ended = await list("--contexts=east,west");
    west.faults.clear();
    expect(ended.code).toBe(3);
    expect(ended.err).toMatch(/^warning: list daemonsets in shop: 403 [^\n]*\(context west of [^\n]*\)\n$/);
    expect(rows(ended).map(([cluster]) => cluster)).toEqual(["CLUSTER", "east", "west"]);
  });

  it("reads the clusters at the same time", async () => {
    const before = west.requests.length;
    let askedBefore = 0;
    const noteOrder = () => {
      askedBefore ||= west.requests.length - before;
      return false;
    };
    west.faults.add({ match: () => true, action: { type: "delay", ms: 200 } });
    east.faults.add({ match: noteOrder, action: { type: "drop" } });
    expect((await list("--contexts=west,east")).code).toBe(0);
    west.faults.clear();
    east.faults.clear();
    // The slow cluster, which is the first, has not answered its last request when the other receives its first.
    expect(askedBefore).toBeLessThan(west.requests.length - before);
  });

  it("reports that no workload of any cluster opted in", async () => {
    expect(await list("--contexts=west,east", "-n", "other")).toEqual({
      code: 0,
      out: "",
      err: "No workloads found in the contexts west, east. wave list shows only workloads that opted in.\n",
    });
  });

  it("rejects --context together with --contexts", async () => {
    expect(await list("--context=east", "--contexts=west")).toEqual({
      code: 2,
      out: "",
      err: "error: --context and --contexts exclude each other; use one of the two\n",
    });
  });

  it.each([
    [
      ["list", "--contexts", ""],
      ["east", "west", "gone"],
    ],
    [["list", "--contexts=east,w"], ["--contexts=east,west"]],
    [["explain", "--context", "e"], ["east"]],
    [["list", "--kubeconfig=/does/not/exist", "--contexts", ""], []],
  ])("completes the names of contexts after %j", async (words, offered) => {
    const { code, out } = await runWave(["__complete", ...words], { KUBECONFIG: kubeconfig });
    expect({ code, words: out.trimEnd().split("\n").slice(0, -1) }).toEqual({ code: 0, words: offered });
  });
});
