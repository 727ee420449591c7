import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";
import { runWave } from "../../../test/support/cli/terminal.ts";
import { eventually } from "../../../test/support/eventually.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());

let scenes = 0;
/** A namespace for one test, with a Deployment without a hash. */
async function scene(spec: object = {}, annotations: Readonly<Record<string, string | undefined>> = {}) {
  const namespace = `wait-${++scenes}`;
  const cluster = commandScene(sandbox, namespace);
  await cluster.createNamespace(namespace);
  await cluster.createConfigMap("page", "1");
  await cluster.createWorkload("deployments/web", { spec, annotations });
  const wait = (...args: readonly string[]) => cluster.run("wait", "deploy/web", ...args);
  /** Resolves when a `wave wait` has started a check. */
  const checked = async () => {
    const before = sandbox.requests.length;
    await eventually(() => {
      const asked = sandbox.requests
        .slice(before)
        .filter((each) => each.resource === "pods" && each.namespace === namespace);
      expect(asked.length).toBeGreaterThan(0);
    });
  };
  return { ...cluster, namespace, wait, checked };
}

describe("wave wait", () => {
  it("reports progress, and ends with 0 when every Pod runs with the current configuration", async () => {
    const { wait, checked, roll } = await scene();
    const [ended] = await Promise.all([wait(), checked().then(() => roll("deployments/web"))]);
    expect(ended).toMatchObject({ code: 0, err: "" });
    const lines = ended.out.trim().split("\n");
    expect(lines[0]).toBe("deployment/web: due. No hash is recorded yet.");
    expect(lines.at(-1)).toBe("deployment/web: 2 of 2 Pods run with the current configuration.");
  });

  it("shows on a terminal what each workload waits for, in one line each", async () => {
    const annotations = { "wave.pusher.com/batches": "off" };
    const { env, namespace, createWorkload, checked, roll } = await scene({}, annotations);
    await createWorkload("deployments/api", { annotations });
    const screens: (readonly string[])[] = [];
    const rewrite = (_: number, text: string) => void screens.push(text.trimEnd().split("\n"));
    const live = { size: () => ({ columns: 40, rows: 24 }), rewrite };
    const waiting = runWave(["wait", "deploy/web", "deploy/api", "-n", namespace], env, { live });
    await checked();
    await eventually(() =>
      expect(screens.at(-1)?.map((line) => line.slice(0, 21))).toEqual([
        "deployment/web  due. ",
        "deployment/api  due. ",
      ]),
    );
    await Promise.all([roll("deployments/web"), roll("deployments/api")]);
    expect(await waiting).toEqual({ code: 0, out: "", err: "" });
    expect(screens.at(-1)).toEqual([
      "deployment/web  2 of 2 Pods run with th…",
      "deployment/api  2 of 2 Pods run with th…",
    ]);
  });

  it("does not end at a rollout of an older configuration", async () => {
    const { wait, checked, roll, editConfigMap } = await scene();
    await roll("deployments/web");
    await editConfigMap("page", "2");
    const [ended] = await Promise.all([wait(), checked().then(() => roll("deployments/web"))]);
    expect(ended.out).toContain(": due. The configuration differs from the recorded hash.\n");
    expect(ended).toMatchObject({ code: 0, err: "" });
  });

  it("notices an edit that was reverted without a change of the workload", async () => {
    const { wait, checked, roll, toBe, editConfigMap } = await scene();
    await roll("deployments/web");
    await toBe("deployments/web", "current");
    await editConfigMap("page", "2");
    const [ended] = await Promise.all([
      wait(),
      // The second check is for the first events of the watch.
      checked()
        .then(checked)
        .then(() => editConfigMap("page", "1")),
    ]);
    expect(ended).toMatchObject({ code: 0, err: "" });
  });

  it("shows the hold after the timeout, and ends with 1", async () => {
    const { wait, namespace, editConfigMap } = await scene({}, { "wave.pusher.com/hold": "true" });
    // The Pods are older.
    await editConfigMap("page", "2");
    const { code, err } = await wait("--timeout=300ms");
    expect(code).toBe(1);
    expect(err).toEqual(
      expect.stringContaining(`error: deployment/web in namespace ${namespace}: still held (hold) after 300ms. `),
    );
  });

  it("checks once with --timeout=0", async () => {
    const { wait, roll, toBe } = await scene();
    expect(await wait("--timeout=0")).toMatchObject({ code: 1, err: expect.stringContaining(": due. ") });
    await roll("deployments/web");
    await toBe("deployments/web", "current");
    expect(await wait("--timeout=0")).toMatchObject({ code: 0, err: "" });
  });

  it("does not treat a paused Deployment as up to date", async () => {
    const { wait, roll, namespace } = await scene({ paused: true });
    await roll("deployments/web");
    const { code, err } = await wait("--timeout=500ms");
    expect(code).toBe(1);
    expect(err).toContain(`deployment/web in namespace ${namespace}: still behind after 500ms. `);
  });

  it("ends at once if only a person can continue", async () => {
    const { wait, run, merge, namespace } = await scene();
    await merge("deployments/web", {
      metadata: { annotations: { "wave.pusher.com/update-on-config-change": "false" } },
    });
    const { code, err } = await wait("--timeout=1h");
    expect({ code, err }).toEqual({
      code: 1,
      err: `error: deployment/web in namespace ${namespace}: ignored. The workload has not opted in. To opt in, set the annotation wave.pusher.com/update-on-config-change: "true".\n`,
    });
    const finalizers = ["example.com/stays"];
    await merge("deployments/web", {
      metadata: { finalizers, annotations: { "wave.pusher.com/update-on-config-change": "true" } },
    });
    await fetch(`${sandbox.url}/apis/apps/v1/namespaces/${namespace}/deployments/web`, { method: "DELETE" });
    expect((await wait("--timeout=1h")).err).toBe(
      `error: deployment/web in namespace ${namespace}: ignored. The workload is being deleted.\n`,
    );
    await merge("deployments/web", { metadata: { finalizers: null } });
    const gone = await run("wait", "sts/none", "deploy/web", "--timeout=1h");
    expect(gone.code).toBe(1);
    expect(gone.err).toMatch(/^error: statefulset "none" not found in namespace "wait-\d+" [^\n]*\n$/);
  });

  it("ends with 3 if the state is unknown, and with 1 if another workload is not done", async () => {
    const { wait, createWorkload, namespace } = await scene();
    await createWorkload("deployments/db", { envFrom: [{ secretRef: { name: "db" } }] });
    const match = ({ path }: { readonly path: string }) => path.includes(`${namespace}/configmaps`);
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const unknown = await wait("--timeout=1h");
    const both = await wait("deploy/db", "--timeout=0");
    sandbox.faults.clear();
    expect(unknown).toEqual({
      code: 3,
      out: "",
      err: `error: deployment/web in namespace ${namespace}: unknown. Cannot read ConfigMap "page". No Wave with leader election runs: there is no Lease wave in wave-system. Run wave explain to see what is missing, and grant that permission.\n`,
    });
    expect(both.code).toBe(1);
  });

  it("continues if the API server is unavailable for a moment", async () => {
    const { wait, checked, roll } = await scene();
    const away = async () => {
      await checked();
      sandbox.faults.add({
        match: ({ path }) => path.includes("/configmaps"),
        action: { type: "status", status: 503 },
      });
      sandbox.dropConnections();
      await checked();
      sandbox.faults.clear();
      await roll("deployments/web");
    };
    const [ended] = await Promise.all([wait(), away()]);
    expect(ended).toMatchObject({ code: 0, err: "" });
  });
});
