import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { pinnedScene } from "../../../test/support/cli/pinned-scene.ts";
import { runWave } from "../../../test/support/cli/terminal.ts";

const sandbox = await startSandbox({ controllers: false });
afterAll(() => sandbox.close());

let scenes = 0;
/** A Deployment that Wave rolled and that is complete, with two current Pods and one Pod of an earlier revision. */
async function scene(annotations: Readonly<Record<string, string>> = {}) {
  const namespace = `wait-pods-${++scenes}`;
  const cluster = await pinnedScene(sandbox, namespace);
  await cluster.createConfigMap("page", "1");
  await cluster.createConfigMap("flags", "1");
  await cluster.createWeb({ "wave.pusher.com/pin-config": "false", ...annotations });
  await cluster.roll("deployments/web");
  const { recordedHash } = await cluster.explained("deployments/web");
  const hash = recordedHash ?? "";
  await cluster.createRevision(1, hash);
  for (let i = 0; i < 2; i++) await cluster.createPod({ revision: 1, hash, reads: ["page", "flags"] });
  await cluster.complete();
  const wait = (...args: readonly string[]) => cluster.run("wait", "deploy/web", "--timeout=0", ...args);
  const status = (pod: string, ready: boolean, container: object) =>
    cluster.merge(`pods/${pod}/status`, {
      status: {
        conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
        containerStatuses: [{ name: "web", ready, restartCount: 2, ...container }],
      },
    });
  return { ...cluster, namespace, hash, wait, status };
}

describe("wave wait", () => {
  it("does not end while a current Pod is not ready, and names the reason", async () => {
    const { wait, status, run, explained } = await scene();
    expect((await wait()).code).toBe(0);
    await status("web-1", false, { state: { waiting: { reason: "CrashLoopBackOff" } } });
    expect(await wait()).toMatchObject({
      code: 1,
      err: expect.stringContaining("2 of 2 Pods have the current configuration, 1 is ready (CrashLoopBackOff)."),
    });
    expect((await run("list")).out).toMatch(/^deployment\/web +current +2\/2 +1\/2 +CrashLoopBackOff /m);
    expect((await explained("deployments/web")).pods).toMatchObject({ ready: 1, restarts: 2 });
    const killed = { lastState: { terminated: { exitCode: 137, reason: "OOMKilled" } } };
    await status("web-1", false, { state: { waiting: { reason: "CrashLoopBackOff" } }, ...killed });
    expect((await wait()).err).toContain("(OOMKilled)");
    await status("web-1", true, { state: { running: { startedAt: new Date().toISOString() } } });
    expect((await wait()).code).toBe(0);
  });

  it("reports a failed rollout as soon as a container has restarted three times, also if its Pod is ready", async () => {
    const { wait, status, run } = await scene();
    await status("web-1", true, { restartCount: 3, state: { running: { startedAt: new Date().toISOString() } } });
    expect(await wait()).toMatchObject({
      code: 1,
      err: expect.stringContaining('Container "web" of Pod "web-1" restarted 3 times.'),
    });
    expect((await run("list")).out).toMatch(/^deployment\/web +failed /m);
  });

  it("does not end while a Pod is mixed: a rollout is due", async () => {
    const { wait, status, merge, run, explained, hash, complete } = await scene();
    const from = Date.now() - 60_000;
    const at = (ms: number) => new Date(from + ms).toISOString().replace(/\.\d+Z$/, "Z");
    const started = (pod: string, ms: number) => status(pod, true, { state: { running: { startedAt: at(ms) } } });
    const note = async (differed: string | null) => {
      await merge("deployments/web", { metadata: { annotations: { "wave.pusher.com/config-differed": differed } } });
      await complete();
    };
    for (const pod of ["web-1", "web-2"]) await started(pod, -60_000);
    await note(`${hash} ${at(0)}/`);
    expect((await wait()).code).toBe(0);
    await started("web-2", 15_000);
    expect(await wait()).toMatchObject({
      code: 1,
      err: expect.stringContaining("due. 1 of 2 Pods may run configuration that was reverted"),
    });
    expect((await run("list")).out).toMatch(/^deployment\/web +due +1\/2 +2\/2 /m);
    expect(await explained("deployments/web")).toMatchObject({ state: "due", pods: { current: 1 } });
    await note(null);
    expect((await wait()).code).toBe(0);
  });

  it("waits with --gone for Pods with another configuration that terminate", async () => {
    const { wait, createPod, merge, complete, namespace } = await scene();
    await createPod({ revision: 1, hash: "v2:old", reads: ["page", "flags"] });
    await merge("pods/web-3", { metadata: { finalizers: ["example.com/stays"] } });
    const path = `${sandbox.url}/api/v1/namespaces/${namespace}/pods`;
    await fetch(`${path}/web-3?gracePeriodSeconds=0`, { method: "DELETE" });
    await complete();
    await merge("deployments/web", { spec: { replicas: 2 } });
    await merge("deployments/web/status", {
      status: { observedGeneration: 99, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 },
    });
    expect((await wait()).code).toBe(0);
    expect(await wait("--gone")).toMatchObject({
      code: 1,
      err: expect.stringContaining("1 Pod with another configuration still terminates."),
    });
    await merge("pods/web-3", { metadata: { finalizers: null } });
    expect((await wait("--gone")).code).toBe(0);
  });
});

describe("wave wait with the variable of Wave's canary", () => {
  it("does not take it for its own flag", async () => {
    const { env, namespace } = await scene();
    const args = ["wait", "deploy/web", "-n", namespace, "--timeout=0"];
    expect(await runWave(args, { ...env, WAVE_SOAK: "500ms" })).toMatchObject({ code: 0, err: "" });
  });
});

describe("wave explain of a held change", () => {
  it("counts the Pods that started since the change and read it already", async () => {
    const { editConfigMap, status, explained } = await scene({ "wave.pusher.com/hold": "true" });
    await editConfigMap("page", "2");
    expect((await explained("deployments/web")).heldChange).toMatchObject({ total: 2, rolled: 0, startedSince: 0 });
    const startedAt = new Date(Date.now() + 600_000).toISOString();
    await status("web-1", true, { state: { running: { startedAt } } });
    const { heldChange, notes } = await explained("deployments/web");
    expect(heldChange).toMatchObject({ total: 2, rolled: 0, startedSince: 1, files: 1 });
    expect(notes).toContain(
      "0 of 2 Pods were rolled for the held change. 1 started since the change and reads it already.",
    );
  });
});
