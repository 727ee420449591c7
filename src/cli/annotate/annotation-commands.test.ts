import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene, type WantedWorkload } from "../../../test/support/cli/commands.ts";
import { runWave } from "../../../test/support/cli/terminal.ts";
import { eventually } from "../../../test/support/eventually.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());

let scenes = 0;
/** A namespace of a test's own, with a Deployment that is due. */
async function scene(wanted: WantedWorkload = {}, ofNamespace: Readonly<Record<string, string>> = {}) {
  const namespace = `annotate-${++scenes}`;
  const cluster = commandScene(sandbox, namespace);
  await cluster.createNamespace(namespace, ofNamespace);
  await cluster.createConfigMap("page", "1");
  await cluster.createWorkload("deployments/web", wanted);
  /** What a command says, having succeeded. */
  const said = async (...args: readonly string[]) => {
    const { code, out, err } = await cluster.run(...args);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    return out;
  };
  const annotation = async (path: string, name: string) =>
    (await cluster.read(path)).metadata.annotations?.[`wave.pusher.com/${name}`];
  return { ...cluster, namespace, said, annotation };
}

describe("wave hold and wave release", () => {
  it("hold a workload and let it go, and say what happens next", async () => {
    const { said, annotation, namespace, roll, toBe } = await scene();
    expect(await said("hold", "deploy/web")).toBe(
      [
        `deployment/web in ${namespace} is held, until "wave release deployment/web -n ${namespace}".`,
        "It is due, and held (hold): it is held by annotation wave.pusher.com/hold, until that is removed.",
        "",
      ].join("\n"),
    );
    expect(await annotation("deployments/web", "hold")).toBe("true");
    expect(await said("release", "deploy/web")).toBe(
      `deployment/web in ${namespace} is no longer held.\nWave rolls it now.\n`,
    );
    expect(await annotation("deployments/web", "hold")).toBeUndefined();
    await roll("deployments/web");
    await toBe("deployments/web", "current");
    expect(await said("hold", "deploy/web")).toContain("It is up to date: nothing is to be rolled.\n");
  });

  it("take one workload out of what its Namespace holds, by its own annotation", async () => {
    const { said, annotation, namespace, toBe, env } = await scene();
    expect((await runWave(["hold", `namespace/${namespace}`], env)).out).toBe(
      `namespace/${namespace} is held, until "wave release namespace/${namespace}".\nNo workload in it is rolled, but those that have hold: "false" themselves.\n`,
    );
    await toBe("deployments/web", "held");
    expect(await said("release", "deploy/web")).toBe(
      `deployment/web in ${namespace} is no longer held, although its Namespace is.\nWave rolls it now.\n`,
    );
    expect(await annotation("deployments/web", "hold")).toBe("false");
    expect((await runWave(["release", `ns/${namespace}`], env)).code).toBe(0);
    await said("release", "deploy/web");
    expect(await annotation("deployments/web", "hold")).toBeUndefined();
  });

  it("hold what is to be rolled for a ConfigMap, several objects at once", async () => {
    const { said, annotation, createConfigMap, toBe } = await scene();
    await createConfigMap("more", "1");
    expect(await said("hold", "cm", "page", "more")).toMatch(
      /^configmap\/page in .*\nNobody is rolled for it.*\nconfigmap\/more in /,
    );
    expect(await annotation("configmaps/page", "hold")).toBe("true");
    await toBe("deployments/web", "held");
    expect(await said("release", "cm/page")).toContain("What it held is rolled now, if it is still needed");
    await toBe("deployments/web", "due");
  });

  it("write as a field manager of their own, so that they are taken for no roll of Wave's", async () => {
    const { said, read } = await scene();
    await said("hold", "deploy/web");
    const { metadata } = await read("deployments/web");
    const managers = metadata.managedFields?.map(({ manager }) => manager);
    expect(managers).toContain("wave-cli");
    expect(managers).not.toContain("wave");
  });

  it("end with 1 where there is no such object, with 3 where it may not be written, in one line", async () => {
    const { run, namespace } = await scene();
    expect(await run("hold", "cm/none")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^error: there is no ConfigMap "none" in namespace "annotate-\d+" of [^\n]*\n$/),
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
    { args: ["hold"], says: "error: name an object, such as deployment/web\n" },
    { args: ["hold", "pod/web"], says: 'error: Wave knows no "pod" here, only a ' },
    { args: ["approve", "cm/page"], says: 'error: Wave knows no "cm" here, only a deployment' },
    { args: ["release", "ns/a", "-n", "b"], says: "error: --namespace b and namespace/a are two namespaces" },
  ])("refuse $args with 2 and one line", async ({ args, says }) => {
    const { code, out, err } = await runWave(args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(says);
  });
});

describe("wave approve", () => {
  const annotations = { "wave.pusher.com/mode": "approve" };

  it("lets the configuration go that is there now, and no other", async () => {
    const { said, annotation, explained, editConfigMap, toBe, namespace } = await scene({ annotations });
    const { hold, currentHash } = await explained("deployments/web");
    expect(hold?.reason).toBe("approval");
    const digits = currentHash?.slice(3);
    expect(await said("approve", "deploy/web")).toBe(
      `deployment/web in ${namespace}: the configuration of hash ${digits?.slice(0, 8)} is approved.\nWave rolls it now.\n`,
    );
    expect(await annotation("deployments/web", "approved")).toBe(digits);
    await editConfigMap("page", "2");
    await toBe("deployments/web", "held");
  });

  it("writes nothing where nothing waits for it", async () => {
    const { said, annotation, merge, roll, toBe } = await scene();
    expect(await said("approve", "deploy/web")).toMatch(/needs no approval: its mode is not approve/);
    await merge("deployments/web", { metadata: { annotations } });
    await roll("deployments/web");
    await toBe("deployments/web", "current");
    expect(await said("approve", "deploy/web")).toMatch(/has nothing to approve.*\nIt is up to date/);
    expect(await annotation("deployments/web", "approved")).toBeUndefined();
  });

  it("says how to approve where the hash cannot be told, because a Secret may not be read", async () => {
    const { run, namespace } = await scene({ annotations, envFrom: [{ secretRef: { name: "db" } }] });
    const match = ({ path }: { readonly path: string }) => path.includes(`${namespace}/secrets`);
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const { code, err } = await run("approve", "deploy/web");
    sandbox.faults.clear();
    expect(code).toBe(3);
    expect(err).toMatch(
      /^error: which hash to approve cannot be told: could not read Secret "db"; take its first 8 digits from the Event [^\n]*\n$/,
    );
  });
});

describe("wave resume", () => {
  /** Three workloads of one ConfigMap; the Pods of that which goes first are never scheduled. */
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

  it("of a ConfigMap goes on past what failed with it, with one workload first", async () => {
    const { said, annotation, explained, namespace } = await halted();
    const out = await said("resume", "cm/page", timeout);
    expect(out).toContain(
      `configmap/page in ${namespace} is resumed: the failure of deployment/web halts nobody any more.\n`,
    );
    expect(await annotation("deployments/web", "resumed")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(await annotation("deployments/a", "resumed")).toBeUndefined();
    expect(await explained("deployments/a")).toMatchObject({ state: "due" });
    expect(await explained("deployments/b")).toMatchObject({ state: "held", because: "batch" });
  });

  it("of a halted workload lets it go alone", async () => {
    const { said, explained, namespace } = await halted();
    expect(await said("resume", "deploy/b", timeout)).toBe(
      `deployment/b in ${namespace} is resumed: it goes on, whatever failed before.\nWave rolls it now.\n`,
    );
    expect(await explained("deployments/a")).toMatchObject({ state: "held", because: "halted" });
  });

  it("writes nothing where nothing failed", async () => {
    const { said, run, annotation, namespace } = await scene();
    expect(await said("resume", "deploy/web")).toContain("there is nothing to resume.\n");
    expect(await said("resume", "cm/page")).toBe(
      `The workload that reads configmap/page in ${namespace} has not failed: there is nothing to resume.\n`,
    );
    expect(await annotation("deployments/web", "resumed")).toBeUndefined();
    const match = ({ path }: { readonly path: string }) => path.endsWith(`${namespace}/daemonsets`);
    sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const blind = await run("resume", "cm/page");
    sandbox.faults.clear();
    expect(blind).toMatchObject({
      code: 3,
      err: expect.stringContaining(
        `not all that may read configmap/page in ${namespace} could be looked at: list daemonsets`,
      ),
    });
    const { code, err } = await run("resume", "cm/other");
    expect({ code, err }).toEqual({
      code: 1,
      err: `error: no workload that opted in reads configmap/other in ${namespace}; --namespace says where to look\n`,
    });
  });
});
