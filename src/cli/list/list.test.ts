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
/** A namespace for one test. */
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

/** The first columns of a table, without the times. */
function cells(out: string): readonly (readonly string[])[] {
  return out
    .trim()
    .split("\n")
    .map((line) => line.split(/ {3,}/).slice(0, 5));
}

describe("wave list", () => {
  it("shows every workload that opted in, with its state, up-to-date Pods and reason", async () => {
    const { run, namespace, createConfigMap, editConfigMap, createWorkload, merge, roll, toBe } = await scene();
    await createConfigMap("page", "1");
    await createConfigMap("other", "1");
    await createConfigMap("late", "1");
    const envFrom = [{ configMapRef: { name: "late" } }];
    await createWorkload("deployments/current");
    await createWorkload("statefulsets/behind", {
      spec: { updateStrategy: { type: "OnDelete" } },
      envFrom: [{ configMapRef: { name: "other" } }],
    });
    await createWorkload("daemonsets/due", { envFrom });
    await createWorkload("deployments/held", { annotations: { "wave.pusher.com/hold": "true" }, envFrom });
    await createWorkload("deployments/waiting", { envFrom: [{ secretRef: { name: "db" } }] });
    await createWorkload("deployments/out", { annotations: { "wave.pusher.com/update-on-config-change": "false" } });
    await createWorkload("deployments/deleted");
    await merge("deployments/deleted", { metadata: { finalizers: ["example.com/stays"] } });
    await fetch(`${sandbox.url}/apis/apps/v1/namespaces/${namespace}/deployments/deleted`, { method: "DELETE" });
    await createWorkload("deployments/unclear", { annotations: { "wave.pusher.com/update-on-config-change": "yes" } });
    await roll("deployments/current");
    await roll("statefulsets/behind");
    await toBe("deployments/current", "current");
    await editConfigMap("other", "2");
    await roll("statefulsets/behind");
    await toBe("statefulsets/behind", "behind");
    // Their Pods are older.
    await editConfigMap("late", "2");
    const { code, out, err } = await run("list", "--max-concurrent-rollouts=0");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(cells(out)).toEqual([
      ["NAME", "STATE", "UP-TO-DATE", "READY", "REASON"],
      ["daemonset/due", "due", "0/1", "1/1", "firstHash"],
      ["deployment/current", "current", "2/2", "2/2", "-"],
      ["deployment/deleted", "ignored", "-", "-", "deleting"],
      ["deployment/held", "held", "0/2", "2/2", "hold"],
      ["deployment/unclear", "ignored", "-", "-", "unclear"],
      ["deployment/waiting", "waiting", "-", "-", "missing"],
      ["statefulset/behind", "behind", "0/2", "2/2", "OnDelete"],
    ]);
    const elsewhere = await run("list", "--namespaces=elsewhere", "--state=ignored");
    expect(
      new Set(
        cells(elsewhere.out)
          .slice(1)
          .map(([, , , , reason]) => reason),
      ),
    ).toEqual(new Set(["deleting", "notWatched", "unclear"]));
    await merge("deployments/current", { spec: { paused: true } });
    await editConfigMap("page", "2");
    await roll("deployments/current");
    const paused = await run("list", "--state=behind", "-o", "wide");
    expect(paused.out).toContain("0 of 2 Pods run with the current configuration. The workload is paused.");
    expect(cells(paused.out).map(([name]) => name)).toEqual(["NAME", "deployment/current", "statefulset/behind"]);
  });

  it("shows the time of the last change, which a hold or a label does not reset", async () => {
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
    expect((await run("list")).out).toMatch(/^deployment\/web +held +0\/2 +2\/2 +hold +60m$/m);
  });

  it("shows how long a hold that ends by itself still lasts", async () => {
    const { run, listed, createConfigMap, createWorkload } = await scene();
    await createConfigMap("page", "1");
    await createWorkload("deployments/web");
    const settling = ["--settle=11h"];
    expect(await listed(...settling)).toMatchObject([{ because: "settling", until: expect.stringMatching(/Z$/) }]);
    expect((await run("list", "-o", "wide", ...settling)).out).toMatch(/ in 1[01]h {3}/);
  });

  it("selects by label and by state, and prints the same as JSON and YAML", async () => {
    const { run, listed, createConfigMap, createWorkload, namespace } = await scene();
    await createConfigMap("page", "1");
    await createWorkload("deployments/web", { labels: { tier: "front" } });
    await createWorkload("deployments/api", { labels: { tier: "back" } });
    await createWorkload("deployments/db", { envFrom: [{ secretRef: { name: "db" } }] });
    // Pods are created meanwhile, so the first two answers may differ.
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
      err: `No matching workloads found in namespace ${namespace}.\n`,
    });
  });

  it("shows which workloads wait for the canary of the same change", async () => {
    const { listed, createConfigMap, editConfigMap, createWorkload } = await scene();
    await createConfigMap("page", "1");
    for (const name of ["c", "a", "b"]) await createWorkload(`deployments/${name}`, { labels: { app: name } });
    await createWorkload("deployments/canary", { annotations: { "wave.pusher.com/priority": "1" } });
    await createWorkload("deployments/alone", { annotations: { "wave.pusher.com/batches": "off" } });
    const states = (each: readonly ListedWorkload[]) =>
      each.map(({ name, state, because }) => `${name} ${state} ${because}`);
    // No workload waits while the first Pods are being created.
    let edits = 1;
    await eventually(async () => {
      // The Pods are older.
      await editConfigMap("page", String(++edits));
      expect(states(await listed())).toEqual([
        "a held batch",
        "alone due firstHash",
        "b held batch",
        "c held batch",
        "canary due firstHash",
      ]);
    });
    expect(states(await listed("-l", "app=a"))).toEqual(["a held batch"]);
    expect(states(await listed("--max-concurrent-rollouts=0"))).not.toContain("a held batch");
  });

  it("draws one table on a terminal, with the batches of a change in progress", async () => {
    const { env, namespace, listed, createConfigMap, editConfigMap, createWorkload } = await scene();
    await createConfigMap("page", "1");
    for (const name of ["a", "b"]) await createWorkload(`deployments/${name}`);
    await createWorkload("deployments/canary", { annotations: { "wave.pusher.com/priority": "1" } });
    let edits = 1;
    await eventually(async () => {
      await editConfigMap("page", String(++edits));
      expect((await listed()).map(({ because }) => because)).toEqual(["batch", "batch", "firstHash"]);
    });
    let screen = "";
    const live = {
      size: () => ({ columns: 60, rows: 24 }),
      rewrite: (_: number, text: string) => {
        screen = text;
      },
    };
    const args = ["list", "-w", "-n", namespace];
    const watching = runWave(args, { ...env, NO_COLOR: "1" }, { live, outputToTerminal: true, errorsToTerminal: true });
    onTestFinished(async () => {
      sandbox.faults.add({ match: () => true, action: { type: "status", status: 403 } });
      expect((await watching).code).toBe(3);
      sandbox.faults.clear();
    });
    await eventually(() => expect(screen).toContain("batch"));
    const lines = screen.trimEnd().split("\n");
    expect(lines.map((line) => line.replace(/ +/g, " ").replace(/\d+s/, "AGE")).slice(4)).toEqual([
      "",
      expect.stringMatching(/^configmap\/page -n \S+: 0 of 3 complete, edited by kube.*…$/),
      "├── batch 1 deployment/canary 0/2",
      "└── batch 2 deployment/a 0/2, deployment/b 0/2",
      "",
      "3 workloads: 1 due, 2 held",
    ]);
    expect(lines.filter((line) => line.length > 60)).toEqual([]);
    expect(screen).not.toContain("\u001b");
  });

  it("applies the annotations of a Namespace, including the opt-in", async () => {
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

  it("reports workloads with unreadable Secrets as unknown, and lists the others", async () => {
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
      {
        name: "db",
        state: "unknown",
        because: "forbidden",
        message: expect.stringMatching(/^Cannot read Secret "db". No Wave /),
      },
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

  it("does not report an empty list if it cannot read the Namespace", async () => {
    const { run, namespace } = await scene();
    const match = ({ path }: { readonly path: string }) => path === `/api/v1/namespaces/${namespace}`;
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const { code, out, err } = await run("list");
    sandbox.faults.clear();
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(/^warning: Namespace annotations are unknown [^\n]*\n$/);
  });

  it("colors the states on a terminal only", async () => {
    const { createConfigMap, createWorkload, env, namespace } = await scene();
    await createConfigMap("page", "1");
    await createWorkload("deployments/web");
    const inTerminal = (output: string, variables = {}) =>
      runWave(["list", "-n", namespace, output], { ...env, ...variables }, { outputToTerminal: true });
    expect((await inTerminal("-otable")).out).toContain("\u001b[36mdue\u001b[39m");
    expect((await inTerminal("-otable", { NO_COLOR: "1" })).out).not.toContain("\u001b");
    expect((await inTerminal("-ojson")).out).not.toContain("\u001b");
  });

  it("needs no more requests for a hundred workloads than for twenty", async () => {
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
    // A list has pages, and may need one more.
    expect(await asked()).toBeLessThanOrEqual(few + 6);
  });

  it("ends with 1 if the namespace does not exist", async () => {
    const { env } = await scene();
    expect(await runWave(["list", "-n", "no-such"], env)).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^error: namespace "no-such" not found \(.*\n$/),
    });
  });

  it("ends with 3 if the API server is lost before it is known whether the namespace exists", async () => {
    const { run, namespace } = await scene();
    let reads = 0;
    const match = ({ path }: { readonly path: string }) => path === `/api/v1/namespaces/${namespace}` && ++reads > 1;
    sandbox.faults.add({ match, action: { type: "drop" } });
    const lost = await run("list");
    sandbox.faults.clear();
    expect(lost).toMatchObject({ code: 3, out: "", err: expect.stringMatching(/^error: get namespaces/) });
  });

  it("reports that no workload opted in, with exit code 0", async () => {
    const { run, namespace } = await scene();
    expect(await run("list")).toEqual({
      code: 0,
      out: "",
      err: `No workloads found in namespace ${namespace}. wave list shows only workloads that opted in.
`,
    });
  });

  it("lists all namespaces with -A", async () => {
    const { env, namespace, createConfigMap, createWorkload } = await scene();
    await createConfigMap("page", "1");
    await createWorkload("deployments/web");
    const { out } = await runWave(["list", "-A"], env);
    expect(cells(out)[0]).toEqual(["NAMESPACE", "NAME", "STATE", "UP-TO-DATE", "READY"]);
    expect(cells(out).map((row) => row.slice(0, 2))).toContainEqual([namespace, "deployment/web"]);
  });

  it.each([
    {
      args: ["web"],
      message:
        'error: unexpected argument "web"; wave list takes only flags. For one workload run: wave explain KIND/NAME\n',
    },
    {
      args: ["--state=heldd"],
      message: 'error: invalid --state: "heldd"; use a comma-separated list of current, rolling',
    },
  ])("rejects $args in one line", async ({ args, message }) => {
    const { code, out, err } = await runWave(["list", ...args]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
  });

  it("ends with one line if the API server rejects the labels", async () => {
    const { run } = await scene();
    const { code, err } = await run("list", "-l", "a=(");
    expect(code).toBe(2);
    expect(err).toMatch(/^error: list deployments in list-\d+: 400 BadRequest[^\n]*\n$/);
  });
});
