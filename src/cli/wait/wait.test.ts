import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";
import { eventually } from "../../../test/support/eventually.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());

let scenes = 0;
/** A namespace of a test's own, with a Deployment that nobody has rolled yet. */
async function scene(spec: object = {}, annotations: Readonly<Record<string, string | undefined>> = {}) {
  const namespace = `wait-${++scenes}`;
  const cluster = commandScene(sandbox, namespace);
  await cluster.createNamespace(namespace);
  await cluster.createConfigMap("page", "1");
  await cluster.createWorkload("deployments/web", { spec, annotations });
  const wait = (...args: readonly string[]) => cluster.run("wait", "deploy/web", ...args);
  /** Resolves when a `wave wait` has begun to look. */
  const looking = async () => {
    const before = sandbox.requests.length;
    await eventually(() => {
      const asked = sandbox.requests
        .slice(before)
        .filter((each) => each.resource === "pods" && each.namespace === namespace);
      expect(asked.length).toBeGreaterThan(0);
    });
  };
  return { ...cluster, namespace, wait, looking };
}

describe("wave wait", () => {
  it("ends with 0 when every Pod runs with the current configuration, having told on the way what it waits for", async () => {
    const { wait, looking, roll, namespace } = await scene();
    const [ended] = await Promise.all([wait(), looking().then(() => roll("deployments/web"))]);
    expect(ended).toMatchObject({ code: 0, err: "" });
    const lines = ended.out.trim().split("\n");
    expect(lines[0]).toBe(`deployment/web in ${namespace}: due: no hash is recorded yet`);
    expect(lines.at(-1)).toBe(`deployment/web in ${namespace}: 2 of 2 Pods run with the current configuration`);
  });

  it("does not end at a rollout of configuration that has changed since", async () => {
    const { wait, looking, roll, editConfigMap } = await scene();
    await roll("deployments/web");
    await editConfigMap("page", "2");
    const [ended] = await Promise.all([wait(), looking().then(() => roll("deployments/web"))]);
    expect(ended.out).toContain(": due: its configuration is not what its hash was made from\n");
    expect(ended).toMatchObject({ code: 0, err: "" });
  });

  it("sees that an edit was taken back, though nothing of the workload changes with it", async () => {
    const { wait, looking, roll, toBe, editConfigMap } = await scene();
    await roll("deployments/web");
    await toBe("deployments/web", "current");
    await editConfigMap("page", "2");
    const [ended] = await Promise.all([
      wait(),
      // The second look is for the events with which a watch begins.
      looking()
        .then(looking)
        .then(() => editConfigMap("page", "1")),
    ]);
    expect(ended).toMatchObject({ code: 0, err: "" });
  });

  it("says after the timeout what holds it, and ends with 1", async () => {
    const { wait, namespace } = await scene({}, { "wave.pusher.com/hold": "true" });
    const { code, err } = await wait("--timeout=300ms");
    expect(code).toBe(1);
    expect(err).toBe(
      `error: deployment/web in ${namespace}: after 300ms still held (hold): it is held by annotation wave.pusher.com/hold, until that is removed\n`,
    );
  });

  it("is no more than one look with --timeout=0", async () => {
    const { wait, roll, toBe } = await scene();
    expect(await wait("--timeout=0")).toMatchObject({ code: 1, err: expect.stringContaining(": due: ") });
    await roll("deployments/web");
    await toBe("deployments/web", "current");
    expect(await wait("--timeout=0")).toMatchObject({ code: 0, err: "" });
  });

  it("does not take a paused Deployment for one that is up to date", async () => {
    const { wait, roll, namespace } = await scene({ paused: true });
    await roll("deployments/web");
    const { code, err } = await wait("--timeout=500ms");
    expect(code).toBe(1);
    expect(err).toContain(`deployment/web in ${namespace}: after 500ms still behind: `);
  });

  it("ends at once where only a person can go on", async () => {
    const { wait, run, merge, namespace } = await scene();
    await merge("deployments/web", {
      metadata: { annotations: { "wave.pusher.com/update-on-config-change": "false" } },
    });
    const { code, err } = await wait("--timeout=1h");
    expect({ code, err }).toEqual({
      code: 1,
      err: `error: deployment/web in ${namespace}: ignored: has not opted in\n`,
    });
    const gone = await run("wait", "sts/none", "deploy/web", "--timeout=1h");
    expect(gone.code).toBe(1);
    expect(gone.err).toMatch(/^error: there is no StatefulSet "none" in namespace "wait-\d+" of [^\n]*\n$/);
  });

  it("ends with 3 where it cannot be told, unless another one says no", async () => {
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
      err: `error: deployment/web in ${namespace}: unknown: could not read ConfigMap "page"\n`,
    });
    expect(both.code).toBe(1);
  });

  it("goes on when the API server is away for a moment", async () => {
    const { wait, looking, roll } = await scene();
    const away = async () => {
      await looking();
      sandbox.faults.add({
        match: ({ path }) => path.includes("/configmaps"),
        action: { type: "status", status: 503 },
      });
      sandbox.dropConnections();
      await looking();
      sandbox.faults.clear();
      await roll("deployments/web");
    };
    const [ended] = await Promise.all([wait(), away()]);
    expect(ended).toMatchObject({ code: 0, err: "" });
  });
});
