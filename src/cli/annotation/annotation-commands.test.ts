import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene, type WantedWorkload } from "../../../test/support/cli/commands.ts";
import { runWave } from "../../../test/support/cli/terminal.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { closedWindow } from "../../../test/support/pacing/closed-window.ts";
import { wavePresenceTexts } from "../cluster/running-wave/running-wave.ts";
import { holdLimits } from "../hold/cluster-hold.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());

const noWave = wavePresenceTexts.none;
let scenes = 0;
/** A namespace for one test, with a Deployment that is due. */
async function scene(wanted: WantedWorkload = {}, ofNamespace: Readonly<Record<string, string>> = {}) {
  const namespace = `annotate-${++scenes}`;
  const cluster = commandScene(sandbox, namespace);
  await cluster.createNamespace(namespace, ofNamespace);
  await cluster.createConfigMap("page", "1");
  await cluster.createWorkload("deployments/web", wanted);
  /** Runs a command that succeeds, and returns its output. */
  const output = async (...args: readonly string[]) => {
    const { code, out, err } = await cluster.run(...args);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    return out;
  };
  const annotation = async (path: string, name: string) =>
    (await cluster.read(path)).metadata.annotations?.[`wave.pusher.com/${name}`];
  return { ...cluster, namespace, output, annotation };
}

describe("wave hold and wave release", () => {
  it("hold and release a workload, and report what happens next", async () => {
    const { output, annotation, namespace, roll, toBe } = await scene();
    expect((await output("hold", "deploy/web")).split("\n")).toEqual([
      `deployment/web held (undo: wave release deployment/web -n ${namespace})`,
      expect.stringMatching(/^A rollout is due, but held \(hold\)\. .*hold.*\.$/),
      holdLimits.undo(namespace),
      holdLimits.configMaps,
      "",
    ]);
    expect(await annotation("deployments/web", "hold")).toBe("true");
    expect(await output("release", "deploy/web")).toBe(
      `deployment/web released (undo: wave hold deployment/web -n ${namespace})\nA rollout is due. ${noWave}\n`,
    );
    expect(await annotation("deployments/web", "hold")).toBeUndefined();
    await roll("deployments/web");
    await toBe("deployments/web", "current");
    expect(await output("hold", "deploy/web")).toContain("The workload is up to date. No rollout is due.\n");
  });

  it("hold with a reason, which list, explain and doctor show before anything is due", async () => {
    const { output, annotation, run, roll, toBe, explained } = await scene();
    await roll("deployments/web");
    await toBe("deployments/web", "current");
    await output("hold", "deploy/web", "--reason", "INC-12");
    expect(await annotation("deployments/web", "hold-reason")).toMatch(/^INC-12\b/);
    expect((await run("list")).out).toMatch(/^deployment\/web +current .* hold /m);
    expect((await run("doctor")).out).toContain("A person holds the next rollout of 1 up-to-date workload: ");
    await output("release", "deploy/web");
    expect(await annotation("deployments/web", "hold-reason")).toBeUndefined();
    await output("hold", "cm/page", "--reason=INC-13");
    expect(await annotation("configmaps/page", "hold-reason")).toMatch(/^INC-13\b/);
    expect((await run("explain", "deploy/web")).out).toMatch(/^ConfigMap page +held /m);
    expect(await explained("deployments/web")).toMatchObject({ state: "current", because: "hold" });
  });

  it("name the reason of a hold in the message", async () => {
    const { output, explained } = await scene();
    await output("hold", "deploy/web", "--reason", "INC-12");
    expect((await explained("deployments/web")).hold?.message).toMatch(/annotation wave\.pusher\.com\/hold: "INC-12\b/);
  });

  it("release an object without a hold without a write, and say so", async () => {
    const { output, read, env, namespace } = await scene();
    expect(await output("release", "deploy/web")).toBe(
      `deployment/web unchanged: it has no hold\nA rollout is due. ${noWave}\n`,
    );
    const { managedFields = [] } = (await read("deployments/web")).metadata;
    expect(managedFields.map(({ manager }) => manager)).not.toContain("wave-cli");
    expect(await output("release", "cm/page")).toContain("configmap/page unchanged: it has no hold\n");
    const { out } = await runWave(["release", `namespace/${namespace}`], env);
    expect(out).toContain(`namespace/${namespace} unchanged: it has no hold\n`);
  });

  it("release one workload of a held Namespace with its own annotation", async () => {
    const { output, annotation, namespace, toBe, env } = await scene();
    expect((await runWave(["hold", `namespace/${namespace}`], env)).out).toBe(
      `namespace/${namespace} held (undo: wave release namespace/${namespace})\nNo workload in the Namespace rolls, except those with the annotation wave.pusher.com/hold: "false".\n${holdLimits.configMaps}\n`,
    );
    await toBe("deployments/web", "held");
    expect(await output("release", "deploy/web")).toBe(
      `deployment/web released; namespace/${namespace} stays held (undo: wave hold deployment/web -n ${namespace})\nA rollout is due. ${noWave}\n`,
    );
    expect(await annotation("deployments/web", "hold")).toBe("false");
    expect(await output("release", "deploy/web")).toContain(
      `deployment/web unchanged: the hold of namespace/${namespace} does not apply to it\n`,
    );
    expect((await runWave(["release", `ns/${namespace}`], env)).code).toBe(0);
    expect(await output("release", "deploy/web")).toContain(
      "deployment/web had no hold. The holds of its Namespace apply to it again",
    );
    expect(await annotation("deployments/web", "hold")).toBeUndefined();
  });

  it("hold rollouts for several ConfigMaps at once", async () => {
    const { output, annotation, createConfigMap, toBe } = await scene();
    await createConfigMap("more", "1");
    expect(await output("hold", "cm", "page", "more")).toMatch(
      /^configmap\/page held .*\nChanges of this object start no rollout\..*\nWithout pinned configuration, .*\nconfigmap\/more held /,
    );
    expect(await annotation("configmaps/page", "hold")).toBe("true");
    await toBe("deployments/web", "held");
    expect(await output("release", "cm/page")).toContain("Every workload that is due and has no other hold may roll.");
    await toBe("deployments/web", "due");
  });

  it("write as their own field manager, because the time of the manager of Wave is the time of a rollout", async () => {
    const { output, read } = await scene();
    await output("hold", "deploy/web");
    const { metadata } = await read("deployments/web");
    const managers = metadata.managedFields?.map(({ manager }) => manager);
    expect(managers).toContain("wave-cli");
    expect(managers).not.toContain("wave");
  });

  it("name the objects that are written if a later one fails, and end with 3", async () => {
    const { run, annotation, createConfigMap } = await scene();
    await createConfigMap("more", "1");
    for (const [command, value] of [
      ["hold", "true"],
      ["release", undefined],
    ] as const) {
      expect(await run(command, "cm", "page", "more", "none")).toMatchObject({
        code: 3,
        err: expect.stringMatching(
          /^error: configmap "none" not found in [^\n]* Already written: configmap\/page and configmap\/more\. Run the command again for the other objects\.\n$/,
        ),
      });
      expect(await annotation("configmaps/page", "hold")).toBe(value);
      expect(await annotation("configmaps/more", "hold")).toBe(value);
    }
    // The first one was not changed, so nothing is written.
    expect(await run("release", "cm", "page", "none")).toMatchObject({
      code: 1,
      err: expect.not.stringContaining("written"),
    });
  });

  it("end with 1 if the object does not exist, with 3 if writing is forbidden, in one line", async () => {
    const { run, namespace } = await scene();
    expect(await run("hold", "cm/none")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^error: configmap "none" not found in namespace "annotate-\d+" [^\n]*\n$/),
    });
    expect(await run("release", "cm/none")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^error: configmap "none" not found in namespace "annotate-\d+" [^\n]*\n$/),
    });
    sandbox.faults.add({ match: ({ method }) => method === "PATCH", action: { type: "status", status: 403 } });
    const { code, err } = await run("hold", "deploy/web");
    sandbox.faults.clear();
    expect({ code, err }).toEqual({
      code: 3,
      err: expect.stringMatching(new RegExp(`^error: patch deployments/web in ${namespace}: 403 Forbidden[^\\n]*\\n$`)),
    });
  });

  it.each([
    { args: ["hold"], message: "error: no object named; use KIND/NAME, for example deployment/web\n" },
    { args: ["hold", "pod/web"], message: 'error: unsupported kind "pod"; this command accepts deployment, ' },
    { args: ["approve", "cm/page"], message: 'error: unsupported kind "cm"; this command accepts deployment' },
    { args: ["release", "ns/a", "-n", "b"], message: "error: -n b contradicts namespace/a; remove one of the two" },
    {
      args: ["hold", "-A"],
      message: "error: wave hold does not support -A; for every rollout run wave hold --cluster, or name each object",
    },
  ])("reject $args with exit code 2 and one line", async ({ args, message }) => {
    const { code, out, err } = await runWave(args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
  });
});

describe("wave approve", () => {
  const annotations = { "wave.pusher.com/mode": "approve" };

  it("approves the current configuration, and no later one", async () => {
    const { output, annotation, explained, editConfigMap, toBe, namespace } = await scene({ annotations });
    const { hold, currentHash } = await explained("deployments/web");
    expect(hold?.reason).toBe("approval");
    const digits = currentHash?.slice(3);
    expect(await output("approve", "deploy/web")).toBe(
      `deployment/web approved: hash ${digits?.slice(0, 8)} (undo: kubectl annotate deployment/web -n ${namespace} wave.pusher.com/approved-)\nA rollout is due. ${noWave}\n`,
    );
    expect(await annotation("deployments/web", "approved")).toBe(digits);
    await editConfigMap("page", "2");
    await toBe("deployments/web", "held");
  });

  it("writes nothing if nothing waits for approval", async () => {
    const { output, annotation, merge, roll, toBe } = await scene();
    expect(await output("approve", "deploy/web")).toMatch(
      /unchanged: its mode is not approve, so no approval is needed/,
    );
    await merge("deployments/web", { metadata: { annotations } });
    await roll("deployments/web");
    await toBe("deployments/web", "current");
    expect(await output("approve", "deploy/web")).toMatch(
      /unchanged: nothing waits for approval\nThe workload is up to date/,
    );
    expect(await annotation("deployments/web", "approved")).toBeUndefined();
  });

  it("explains how to approve if the hash is unknown because a Secret is not readable", async () => {
    const { run, namespace } = await scene({ annotations, envFrom: [{ secretRef: { name: "db" } }] });
    const match = ({ path }: { readonly path: string }) => path.includes(`${namespace}/secrets`);
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const { code, err } = await run("approve", "deploy/web");
    sandbox.faults.clear();
    expect(code).toBe(3);
    expect(err).toMatch(
      /^error: the hash to approve is unknown\. Cannot read Secret "db"\. Take its first 8 digits from the Event [^\n]*\n$/,
    );
  });
});

describe("wave resume", () => {
  /** Three workloads of one ConfigMap. The Pods of the canary are never scheduled. */
  async function halted() {
    const cluster = await scene({ annotations: { "wave.pusher.com/priority": "1" } });
    for (const name of ["a", "b"]) await cluster.createWorkload(`deployments/${name}`);
    const all = ["deployments/web", "deployments/a", "deployments/b"];
    for (const path of all) await cluster.roll(path);
    for (const path of all) await cluster.toBe(path, "current");
    await cluster.editConfigMap("page", "2");
    await cluster.toBe("deployments/a", "held");
    await cluster.merge("deployments/web", { spec: { template: { spec: { schedulerName: "none" } } } });
    await cluster.roll("deployments/web");
    const explained = (path: string) => cluster.explained(path, timeout);
    await eventually(async () => expect((await explained("deployments/a")).hold?.reason).toBe("halted"));
    return { ...cluster, explained };
  }
  const timeout = "--rollout-timeout=1s";

  it("of a ConfigMap ignores the failures and continues with one workload", async () => {
    const { output, annotation, explained, namespace } = await halted();
    const out = await output("resume", "cm/page", timeout);
    expect(out).toContain(
      `configmap/page resumed: the failure of deployment/web no longer halts other workloads\nUndo: kubectl annotate deployment/web -n ${namespace} wave.pusher.com/resumed-\n`,
    );
    expect(await annotation("deployments/web", "resumed")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(await annotation("deployments/a", "resumed")).toBeUndefined();
    expect(await explained("deployments/a")).toMatchObject({ state: "due" });
    expect(await explained("deployments/b")).toMatchObject({ state: "held", because: "batch" });
  });

  it("of a ConfigMap ends with 0 and a warning if it wrote, and other workloads are unknown", async () => {
    const { run, annotation, namespace } = await halted();
    const match = ({ path }: { readonly path: string }) => path.endsWith(`${namespace}/daemonsets`);
    const remove = sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const { code, err } = await run("resume", "cm/page", timeout);
    remove();
    expect(code).toBe(0);
    expect(err).toMatch(/^warning: The effect is unknown: incomplete: other workloads may read configmap\/page /m);
    expect(await annotation("deployments/web", "resumed")).toBeDefined();
  });

  it("of a halted workload rolls only this workload", async () => {
    const { output, explained, namespace } = await halted();
    expect(await output("resume", "deploy/b", timeout)).toBe(
      `deployment/b resumed: it rolls despite the failures (undo: kubectl annotate deployment/b -n ${namespace} wave.pusher.com/resumed-)\nA rollout is due. ${noWave}\n`,
    );
    expect(await explained("deployments/a")).toMatchObject({ state: "held", because: "halted" });
  });

  it("writes nothing if nothing failed", async () => {
    const { output, run, annotation, namespace } = await scene();
    expect(await output("resume", "deploy/web")).toContain(
      "deployment/web unchanged: it has not failed and is not halted\n",
    );
    expect(await output("resume", "cm/page")).toBe(
      "configmap/page unchanged: the workload that reads it has not failed\n",
    );
    expect(await annotation("deployments/web", "resumed")).toBeUndefined();
    const match = ({ path }: { readonly path: string }) => path.endsWith(`${namespace}/daemonsets`);
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const blind = await run("resume", "cm/page");
    sandbox.faults.clear();
    expect(blind).toMatchObject({
      code: 3,
      err: expect.stringContaining(
        `incomplete: other workloads may read configmap/page in namespace ${namespace} and may have failed. Cause: list daemonsets`,
      ),
    });
    const { code, err } = await run("resume", "cm/other");
    expect({ code, err }).toEqual({
      code: 1,
      err: `error: no workload that opted in reads configmap/other in namespace ${namespace}. Check -n and --context.\n`,
    });
  });
});

describe("wave roll", () => {
  const closed = { "wave.pusher.com/window": closedWindow() };

  it("requests a rollout that waits for its window, and names the user", async () => {
    const { output, annotation, namespace } = await scene({ annotations: closed });
    expect(await output("roll", "deploy/web")).toBe(
      `deployment/web requested to roll now (undo: kubectl annotate deployment/web -n ${namespace} wave.pusher.com/roll-requested-)\nA rollout is due. ${noWave}\n`,
    );
    expect(await annotation("deployments/web", "roll-requested")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/);
  });

  it("requests nothing if no rollout waits", async () => {
    const { output, annotation, roll, toBe } = await scene();
    expect(await output("roll", "deploy/web")).toBe(`A rollout is due. ${noWave}\n`);
    await roll("deployments/web");
    await toBe("deployments/web", "current");
    expect(await output("roll", "deploy/web")).toBe(
      "deployment/web unchanged: no rollout waits\nThe workload is up to date. No rollout is due.\n",
    );
    expect(await annotation("deployments/web", "roll-requested")).toBeUndefined();
  });

  it("fails if a person holds the workload, and names the command that releases it", async () => {
    const { run, output, annotation } = await scene();
    await output("hold", "deploy/web");
    expect(await run("roll", "deploy/web")).toEqual({
      code: 1,
      out: "",
      err: expect.stringMatching(
        /^error: deployment\/web not requested: wave roll does not end the hold "hold"\. .*wave release deployment\/web/,
      ),
    });
    expect(await annotation("deployments/web", "roll-requested")).toBeUndefined();
  });
});

describe("wave hold --cluster and wave release --cluster", () => {
  /** A cluster of its own, because the Wave in it affects every command. */
  async function installedWave() {
    const own = await startSandbox({ controllers: false });
    onTestFinished(() => own.close());
    const cluster = commandScene(own, "shop");
    await cluster.createNamespace("shop");
    await cluster.createConfigMap("page", "1");
    for (const name of ["web", "wave"]) await cluster.createWorkload(`deployments/${name}`);
    const containers = [{ name: "wave", image: "wave", args: ["run", "--settle=0"] }];
    const labels = { "app.kubernetes.io/name": "wave" };
    await cluster.merge("deployments/wave", { metadata: { labels }, spec: { template: { spec: { containers } } } });
    return cluster;
  }

  it("hold and release every rollout by the Namespace of Wave, and every command shows the hold", async () => {
    const { env, run, merge } = await installedWave();
    expect(await runWave(["hold", "--cluster", "--reason", "INC-12"], env)).toEqual({
      code: 0,
      err: "",
      out: `Every rollout of Wave in shop is held (undo: wave release --cluster).\nRollouts that have started continue. ${holdLimits.configMaps}\n`,
    });
    expect(await run("list")).toMatchObject({
      code: 0,
      err: expect.stringContaining(
        `note: Every rollout is held by annotation wave.pusher.com/hold-cluster on Namespace "shop": "INC-12`,
      ),
      out: expect.stringMatching(/deployment\/web +held +\S+ +\S+ +clusterHold/),
    });
    expect(await run("roll", "deploy/web")).toMatchObject({ code: 1, err: expect.stringContaining("clusterHold") });
    expect((await run("approve", "deploy/web")).out).not.toContain(noWave);
    const release = async () => (await runWave(["release", "--cluster"], env)).out.split("\n", 1)[0];
    expect(await release()).toBe("Rollouts of Wave in shop are released (undo: wave hold --cluster).");
    expect(await release()).toBe("namespace/shop unchanged: it has no hold of every rollout");
    expect((await run("list")).out).toMatch(/deployment\/web +due/);
    expect((await run("release", "deploy/web")).out).toContain(`A rollout is due. ${wavePresenceTexts.notReady}`);
    await merge("deployments/wave/status", { status: { readyReplicas: 1 } });
    expect((await run("release", "deploy/web")).out).toContain("Wave rolls the workload now.");
  });

  it.each([
    { args: ["hold", "--cluster", "deploy/web"], code: 2, message: '"deploy/web"; --cluster is about all objects' },
  ])("reject $args", async ({ args, code, message }) => {
    const { env } = await scene();
    expect(await runWave(args, env)).toMatchObject({ code, err: expect.stringContaining(message) });
  });

  it("fail if no Wave is found", async () => {
    const empty = await startSandbox();
    onTestFinished(() => empty.close());
    const { env } = commandScene(empty, "default");
    expect(await runWave(["hold", "--cluster"], env)).toMatchObject({
      code: 1,
      err: expect.stringContaining("no Wave found"),
    });
  });
});

describe("a command that writes an annotation", () => {
  const closed = { annotations: { "wave.pusher.com/window": closedWindow() } };
  const approval = { annotations: { "wave.pusher.com/mode": "approve" } };

  it.each([
    { args: ["hold", "deploy/web"], annotation: "hold", wanted: {} },
    {
      args: ["release", "deploy/web"],
      annotation: "hold",
      wanted: { annotations: { "wave.pusher.com/hold": "true" } },
    },
    { args: ["approve", "deploy/web"], annotation: "approved", wanted: approval },
    { args: ["roll", "deploy/web"], annotation: "roll-requested", wanted: closed },
  ])("ends with 0 after the write, also if the API server fails from then on: $args", async (row) => {
    const { run, annotation } = await scene(row.wanted);
    const before = await annotation("deployments/web", row.annotation);
    let written = false;
    const match = ({ method, query }: { method: string; query: URLSearchParams }) => {
      const was = written;
      written ||= method === "PATCH" && !query.has("dryRun");
      return was;
    };
    const remove = sandbox.faults.add({ match, action: { type: "status", status: 429, retryAfterSeconds: 60 } });
    const { code, out, err } = await run(...row.args);
    remove();
    expect(code, err).toBe(0);
    expect(out).toMatch(/^deployment\/web [^\n]*\(undo: [^\n]*\n$/);
    expect(err).toMatch(/^warning: The effect is unknown: [^\n]* 429 TooManyRequests: [^\n]*\n$/);
    expect(await annotation("deployments/web", row.annotation)).not.toBe(before);
  });

  it("waits while the API server is busy", async () => {
    const { output } = await scene();
    sandbox.faults.add({ match: () => true, action: { type: "status", status: 429, retryAfterSeconds: 1 }, times: 1 });
    expect(await output("hold", "deploy/web")).toMatch(/^deployment\/web held /);
  });
});
