import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { parse } from "yaml";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";
import { runWave } from "../../../test/support/cli/terminal.ts";
import { eventually } from "../../../test/support/eventually.ts";
import type { ListedWorkload } from "./list-output.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());

let scenes = 0;
/** A namespace of a test's own. */
async function scene(annotations: Readonly<Record<string, string>> = {}) {
  const namespace = `list-${++scenes}`;
  const cluster = commandScene(sandbox, namespace);
  await cluster.createNamespace(namespace, annotations);
  const listed = async (...args: readonly string[]): Promise<readonly ListedWorkload[]> => {
    const { code, out, err } = await cluster.run("list", "-o", "json", ...args);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    return JSON.parse(out).items;
  };
  return { ...cluster, namespace, listed };
}

/** Columns of a table, without the times. */
function cells(out: string): readonly (readonly string[])[] {
  return out
    .trim()
    .split("\n")
    .map((line) => line.split(/ {3,}/).slice(0, 4));
}

describe("wave list", () => {
  it("shows every workload that opted in as kubectl get would, with where it stands and how many Pods are current", async () => {
    const { run, createConfigMap, editConfigMap, createWorkload, merge, roll, toBe } = await scene();
    await createConfigMap("page", "1");
    await createConfigMap("other", "1");
    await createWorkload("deployments/current");
    await createWorkload("statefulsets/behind", {
      spec: { updateStrategy: { type: "OnDelete" } },
      envFrom: [{ configMapRef: { name: "other" } }],
    });
    await createWorkload("daemonsets/due");
    await createWorkload("deployments/held", { annotations: { "wave.pusher.com/hold": "true" } });
    await createWorkload("deployments/waiting", { envFrom: [{ secretRef: { name: "db" } }] });
    await createWorkload("deployments/out", { annotations: { "wave.pusher.com/update-on-config-change": "false" } });
    await createWorkload("deployments/unclear", { annotations: { "wave.pusher.com/update-on-config-change": "yes" } });
    await roll("deployments/current");
    await roll("statefulsets/behind");
    await toBe("deployments/current", "current");
    await editConfigMap("other", "2");
    await roll("statefulsets/behind");
    await toBe("statefulsets/behind", "behind");
    const { code, out, err } = await run("list", "--max-concurrent-rollouts=0");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(cells(out)).toEqual([
      ["NAME", "STATE", "REASON", "PODS"],
      ["daemonset/due", "due", "firstHash", "0/1"],
      ["deployment/current", "current", "-", "2/2"],
      ["deployment/held", "held", "hold", "0/2"],
      ["deployment/unclear", "ignored", "unclear", "-"],
      ["deployment/waiting", "waiting", "missing", "-"],
      ["statefulset/behind", "behind", "OnDelete", "0/2"],
    ]);
    await merge("deployments/current", { spec: { paused: true } });
    await editConfigMap("page", "2");
    await roll("deployments/current");
    const paused = await run("list", "--state=behind", "-o", "wide");
    expect(paused.out).toContain("0 of 2 Pods run with the current configuration, because it is paused");
    expect(cells(paused.out).map(([name]) => name)).toEqual(["NAME", "deployment/current", "statefulset/behind"]);
  });

  it("says since when what a workload reads is not shown by its Pods, whoever held or labelled it since", async () => {
    const { run, listed, createConfigMap, createWorkload, editConfigMap, merge, roll, toBe } = await scene();
    await createConfigMap("page", "1");
    await createWorkload("deployments/web");
    await roll("deployments/web");
    await toBe("deployments/web", "current");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    const editedAt = `${new Date().toISOString().slice(0, 19)}Z`;
    await editConfigMap("page", "2");
    vi.setSystemTime(Date.now() + 3_600_000);
    expect((await run("hold", "cm/page")).code).toBe(0);
    await merge("configmaps/page", { metadata: { labels: { a: "b" } } }, "kubectl-label");
    expect(await listed()).toMatchObject([{ state: "held", because: "hold", since: editedAt }]);
    expect((await run("list")).out).toMatch(/^deployment\/web +held +hold +0\/2 +60m$/m);
  });

  it("picks by label and by state, and says the same in JSON and YAML", async () => {
    const { run, listed, createConfigMap, createWorkload, namespace } = await scene();
    await createConfigMap("page", "1");
    await createWorkload("deployments/web", { labels: { tier: "front" } });
    await createWorkload("deployments/api", { labels: { tier: "back" } });
    await createWorkload("deployments/db", { envFrom: [{ secretRef: { name: "db" } }] });
    // Pods come meanwhile, so the first answers may be of two moments.
    await eventually(async () => {
      const front = await listed("-l", "tier=front");
      expect(front).toMatchObject([{ kind: "Deployment", namespace, name: "web", pods: { current: 0 } }]);
      expect(parse((await run("list", "-o", "yaml", "-l", "tier=front")).out)).toEqual({ version: 1, items: front });
    });
    expect((await listed("--state", "waiting,failed")).map(({ name }) => name)).toEqual(["db"]);
    const none = await run("list", "--state=failed");
    expect(none).toEqual({
      code: 0,
      out: "",
      err: `No workload that opted in and matches was found in namespace "${namespace}".\n`,
    });
  });

  it("tells who waits for others that the same change concerns, by the wave that Wave would make of them", async () => {
    const { listed, createConfigMap, createWorkload } = await scene();
    await createConfigMap("page", "1");
    for (const name of ["c", "a", "b"]) await createWorkload(`deployments/${name}`, { labels: { app: name } });
    await createWorkload("deployments/canary", { annotations: { "wave.pusher.com/priority": "1" } });
    await createWorkload("deployments/alone", { annotations: { "wave.pusher.com/batches": "off" } });
    const states = (each: readonly ListedWorkload[]) =>
      each.map(({ name, state, because }) => `${name} ${state} ${because}`);
    // As long as their first Pods are being made, nobody waits.
    await eventually(async () =>
      expect(states(await listed())).toEqual([
        "a held wave",
        "alone due baseline",
        "b held wave",
        "c held wave",
        "canary due baseline",
      ]),
    );
    expect(states(await listed("-l", "app=a"))).toEqual(["a held wave"]);
    expect(states(await listed("--canary-size=2"))).toContain("a due baseline");
    expect(states(await listed("--max-concurrent-rollouts=0"))).not.toContain("a held wave");
  });

  it("counts what a Namespace decides, and opts in by it", async () => {
    const { listed, createConfigMap, createWorkload } = await scene({
      "wave.pusher.com/update-on-config-change": "true",
      "wave.pusher.com/hold": "true",
    });
    await createConfigMap("page", "1");
    const silent = { "wave.pusher.com/update-on-config-change": undefined };
    await createWorkload("deployments/web", { annotations: silent });
    await createWorkload("deployments/own", { annotations: { ...silent, "wave.pusher.com/hold": "false" } });
    expect(await listed("--max-concurrent-rollouts=0")).toMatchObject([
      { name: "own", state: "due" },
      { name: "web", state: "held", because: "hold", message: expect.stringContaining("Namespace") },
    ]);
  });

  it("goes on past Secrets that may not be read: those that hang on them are unknown, with why", async () => {
    const { run, createConfigMap, createWorkload, namespace } = await scene();
    await createConfigMap("page", "1");
    await createWorkload("deployments/web");
    await createWorkload("deployments/db", { envFrom: [{ secretRef: { name: "db" } }] });
    const match = ({ path }: { readonly path: string }) => path.includes(`${namespace}/secrets`);
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const all = await run("list", "-ojson");
    const failed = await run("list", "--state=failed");
    sandbox.faults.clear();
    expect(JSON.parse(all.out).items).toMatchObject([
      { name: "db", state: "unknown", because: "forbidden", message: 'could not read Secret "db"' },
      { name: "web", state: "due" },
    ]);
    expect([all.code, failed.code]).toEqual([3, 3]);
    const daemonSets = ({ path }: { readonly path: string }) => path.includes(`${namespace}/daemonsets`);
    sandbox.faults.add({ match: daemonSets, action: { type: "status", status: 403 } });
    const { code, out, err } = await run("list");
    sandbox.faults.clear();
    expect(code).toBe(3);
    expect(out).toContain("deployment/web");
    expect(err).toMatch(/^warning: list daemonsets in list-\d+: 403 Forbidden[^\n]*\n$/);
  });

  it("does not say that nobody opted in where a Namespace that may opt them in cannot be read", async () => {
    const { run, namespace } = await scene();
    const match = ({ path }: { readonly path: string }) => path === `/api/v1/namespaces/${namespace}`;
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const { code, out, err } = await run("list");
    sandbox.faults.clear();
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(/^warning: what Namespaces decide is not known here [^\n]*\n$/);
  });

  it("colours the states for a terminal, and nothing for a program", async () => {
    const { createConfigMap, createWorkload, env, namespace } = await scene();
    await createConfigMap("page", "1");
    await createWorkload("deployments/web");
    const inTerminal = (output: string, variables = {}) =>
      runWave(["list", "-n", namespace, output], { ...env, ...variables }, { outputToTerminal: true });
    expect((await inTerminal("-otable")).out).toContain("\u001b[36mdue\u001b[0m");
    expect((await inTerminal("-otable", { NO_COLOR: "1" })).out).not.toContain("\u001b");
    expect((await inTerminal("-ojson")).out).not.toContain("\u001b");
  });

  it("asks the API server no more for a hundred workloads than for twenty", async () => {
    const { run, createConfigMap, createWorkload } = await scene();
    const create = async (from: number, to: number) => {
      for (let i = from; i < to; i++) {
        await createConfigMap(`page-${i}`, "1");
        await createWorkload(`deployments/web-${i}`, {
          spec: { replicas: 0 },
          envFrom: [{ configMapRef: { name: `page-${i}` } }],
        });
      }
    };
    const asked = async () => {
      const before = sandbox.requests.length;
      await run("list");
      return sandbox.requests.slice(before).filter(({ userAgent }) => userAgent.startsWith("wave-list")).length;
    };
    await create(0, 20);
    const few = await asked();
    await create(20, 100);
    // A list is in pages, of which there may be one more.
    expect(await asked()).toBeLessThanOrEqual(few + 6);
  });

  it("lists all namespaces with -A", async () => {
    const { env, namespace, createConfigMap, createWorkload } = await scene();
    await createConfigMap("page", "1");
    await createWorkload("deployments/web");
    const { out } = await runWave(["list", "-A"], env);
    expect(cells(out)[0]).toEqual(["NAMESPACE", "NAME", "STATE", "REASON"]);
    expect(cells(out).map((row) => row.slice(0, 2))).toContainEqual([namespace, "deployment/web"]);
  });

  it.each([
    { args: ["web"], says: 'error: "web" is not a flag; "wave explain" tells of one workload, -l picks some\n' },
    { args: ["--state=heldd"], says: 'error: --state: "heldd" is not a comma-separated list of current, rolling' },
  ])("refuses $args in one line", async ({ args, says }) => {
    const { code, out, err } = await runWave(["list", ...args]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(says);
  });

  it("ends with one line where the API server refuses the labels", async () => {
    const { run } = await scene();
    const { code, err } = await run("list", "-l", "a=(");
    expect(code).toBe(2);
    expect(err).toMatch(/^error: list deployments in list-\d+: 400 BadRequest[^\n]*\n$/);
  });
});
