import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../../sandbox/sandbox.ts";
import { commandScene } from "../../../../test/support/cli/commands.ts";
import { runWave } from "../../../../test/support/cli/terminal.ts";
import { closedWindow } from "../../../../test/support/pacing/closed-window.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());

let scenes = 0;
/** Creates a namespace with a due workload, and Deployments of Wave that watch only this namespace. */
async function scene(...waves: readonly (readonly string[])[]) {
  const namespace = `flags-${++scenes}`;
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

const never = `--window=${closedWindow()}`;

describe("a command, if Wave runs as a Deployment,", () => {
  it("uses the flags of the running Wave, and shows them with -v or if they change the answer", async () => {
    const { run, merge, namespace } = await scene(["--observe=true", "--update-rate=5"]);
    const note = `note: Using the flags of deployment/wave-0 in ${namespace}: --namespaces=${namespace} --observe=true\n`;
    for (const args of [["list"], ["list", "-v"], ["explain", "deployment/web"]]) {
      const { out, err } = await run(...args);
      expect(out).toMatch(/\bheld\b.*\bobserved\b/s);
      expect(err).toBe(note);
    }
    await merge("deployments/web", { metadata: { annotations: { "wave.pusher.com/mode": "observe" } } });
    expect((await run("list")).err).toBe("");
    expect((await run("list", "-v")).err).toBe(note);
    for (const command of ["explain", "hold", "release"])
      expect((await run(command, "deployment/web", "-v")).err).toMatch(/^note: .* --observe=true\n/);
    expect((await run("wait", "deployment/web", "--timeout=0")).err).toMatch(/held \(observed\)/);
  });

  it("prefers its own flags to those of Wave", async () => {
    const { run, namespace } = await scene(["--observe=true", never]);
    const { out, err } = await run("list", "-v", "--observe=false", "--max-concurrent-rollouts=0", "--settle=0");
    expect(out).toMatch(/^deployment\/web +held .*\bwindow\b/m);
    expect(err).toContain(`: --namespaces=${namespace} ${never}\n`);
  });

  it("uses the known flags of another version", async () => {
    const { run } = await scene(["--observe=true", "--of-tomorrow=1"]);
    expect((await run("list")).out).toMatch(/^deployment\/web +held .*\bobserved\b/m);
  });

  it("warns if two Waves watch the namespace, but not if one of them is scaled to zero", async () => {
    const { run, merge, namespace } = await scene(["--observe=true"], []);
    const two = await run("list");
    expect(two.err).toBe(
      `warning: Several Waves run: deployment/wave-0 in ${namespace} and deployment/wave-1 in ${namespace}. Using the defaults. Pass the flags of the Wave that you mean.\n`,
    );
    await merge("deployments/wave-1", { spec: { replicas: 0 } });
    expect((await run("list")).out).toMatch(/^deployment\/web +held .*\bobserved\b/m);
  });

  it("uses its own flags if it may not list Deployments of all namespaces, and warns if it has none", async () => {
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
      "warning: Cannot read the flags of the running Wave: you do not have permission to list deployments in all namespaces. Using the defaults. Pass the flags of your installation, or set variables such as WAVE_WINDOW.\n",
    );
  });
});
