import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";
import { runWave } from "../../../test/support/cli/terminal.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());

let scenes = 0;
/** A namespace of a test's own with a workload that is due, and Deployments of Wave that serve it alone. */
async function scene(...waves: readonly (readonly string[])[]) {
  const namespace = `told-${++scenes}`;
  const cluster = commandScene(sandbox, namespace);
  const { WAVE_SETTLE: _, ...env } = cluster.env;
  await cluster.createNamespace(namespace);
  await cluster.createConfigMap("page", "1");
  for (const [index, flags] of waves.entries()) await createWave(cluster, `wave-${index}`, namespace, flags);
  await cluster.createWorkload("deployments/web");
  return { ...cluster, namespace, env };
}

async function createWave(
  { createWorkload }: ReturnType<typeof commandScene>,
  name: string,
  namespace: string,
  flags: readonly string[],
) {
  const labels = { "app.kubernetes.io/name": "wave" };
  const containers = [{ name: "wave", image: "wave", args: ["run", `--namespaces=${namespace}`, ...flags] }];
  await createWorkload(`deployments/${name}`, {
    annotations: { "wave.pusher.com/update-on-config-change": undefined },
    labels,
    spec: { template: { metadata: { labels: { app: name } }, spec: { containers } } },
  });
}

const never = "--window=Mon 00:00-00:01 UTC; Tue 00:00-00:01 UTC";

describe("a command, where Wave runs as a Deployment,", () => {
  it("decides by the flags that Wave was told, and says which", async () => {
    const { run, namespace } = await scene(["--observe=true", "--update-rate=5"]);
    const { out, err } = await run("list");
    expect(out).toMatch(/^deployment\/web +held +observed /m);
    expect(err).toBe(
      `wave list: deployment/wave-0 in ${namespace} was told --namespaces=${namespace} --observe=true, and so it is here\n`,
    );
    for (const command of ["explain", "hold", "release"])
      expect((await run(command, "deployment/web")).err).toMatch(new RegExp(`^wave ${command}: .* --observe=true, `));
    expect((await run("wait", "deployment/web", "--timeout=0")).err).toMatch(/held \(observed\)/);
  });

  it("goes by its own flags before those of Wave", async () => {
    const { run, namespace } = await scene(["--observe=true", never]);
    const { out, err } = await run("list", "--observe=false", "--max-concurrent-rollouts=0", "--settle=0");
    expect(out).toMatch(/^deployment\/web +held +window /m);
    expect(err).toContain(`was told --namespaces=${namespace} ${never},`);
  });

  it("understands what it can of the flags of another version", async () => {
    const { run } = await scene(["--observe=true", "--of-tomorrow=1"]);
    expect((await run("list")).out).toMatch(/^deployment\/web +held +observed /m);
  });

  it("says that it does not know whose flags count where two Waves serve the namespace, not where one is scaled to zero", async () => {
    const { run, merge, namespace } = await scene(["--observe=true"], []);
    const two = await run("list");
    expect(two.err).toBe(
      `wave list: whose flags count is not known, since several Waves run: deployment/wave-0 in ${namespace} and deployment/wave-1 in ${namespace}\n`,
    );
    await merge("deployments/wave-1", { spec: { replicas: 0 } });
    expect((await run("list")).out).toMatch(/^deployment\/web +held +observed /m);
  });

  it("goes by its own flags alone where it may not list Deployments of all namespaces, and says so to who gives none", async () => {
    const { run, env, namespace } = await scene(["--observe=true"]);
    const end = sandbox.faults.add({
      match: ({ path }) => path === "/apis/apps/v1/deployments",
      action: { type: "status", status: 403 },
    });
    const { out, err } = await run("list", "--settle=0");
    expect(err).toBe("");
    expect(out).toMatch(/^deployment\/web +due /m);
    const silent = await runWave(["list", "-n", namespace], env);
    end();
    expect(silent.code).toBe(0);
    expect(silent.err).toBe(
      "wave list: with which flags Wave runs is not known here: you may not list deployments in all namespaces; the defaults count, and those that you give, also as variables such as WAVE_WINDOW\n",
    );
  });
});
