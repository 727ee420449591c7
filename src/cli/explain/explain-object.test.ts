import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";
import type { ObjectExplanation } from "../cluster/explanation/object-explanation.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());

let scenes = 0;
/** A namespace with workloads that read `page` in different ways. */
async function scene() {
  const namespace = `object-${++scenes}`;
  const cluster = commandScene(sandbox, namespace);
  await cluster.createNamespace(namespace);
  await cluster.createConfigMap("page", "1");
  for (const name of ["deployments/web", "deployments/api"]) {
    await cluster.createWorkload(
      name,
      name.endsWith("api") ? { annotations: { "wave.pusher.com/mode": "observe" } } : {},
    );
    await cluster.roll(name);
    await cluster.toBe(name, "current");
  }
  await cluster.createWorkload("deployments/out", {
    annotations: { "wave.pusher.com/update-on-config-change": "false" },
  });
  const objectExplained = async (name: string): Promise<ObjectExplanation> =>
    JSON.parse((await cluster.run("explain", name, "-o", "json")).out);
  return { ...cluster, namespace, objectExplained };
}

describe("wave explain of a ConfigMap", () => {
  it("says who reads it, and what an edit would roll", async () => {
    const { run, objectExplained, explained, merge, editConfigMap, namespace } = await scene();
    const { readers, notOptedIn, ...rest } = await objectExplained("cm/page");
    expect(rest).toMatchObject({ state: "present", holdReason: null, misused: null, unread: [] });
    expect(readers.map(({ name, state, keys, edit, hold }) => [name, state, keys, edit, hold?.reason])).toEqual([
      ["api", "current", "all", "held", "observed"],
      ["web", "current", "all", "roll", undefined],
    ]);
    expect(notOptedIn).toEqual([{ kind: "Deployment", namespace, name: "out" }]);
    const { code, out } = await run("explain", "configmap/page");
    expect(code).toBe(0);
    expect(out).toContain("2 workloads that opted in read it. An edit of the keys below rolls 1, and 1 is held.\n");
    expect(out).toMatch(/^deployment\/web +current +all +roll$/m);
    expect(out).toContain("deployment/out reads it, but has not opted in.\n");
    // The answer is what Wave does after the edit.
    await merge("configmaps/page", { metadata: { annotations: { "wave.pusher.com/window": "" } } });
    await editConfigMap("page", "2");
    for (const { name, edit, hold } of readers) {
      const now = await explained(`deployments/${name}`);
      expect([now.outcome, now.hold?.reason]).toEqual([edit, hold?.reason]);
    }
  });

  it("names the person who holds its changes, and the reason", async () => {
    const { run, objectExplained, explained, editConfigMap } = await scene();
    await run("hold", "cm/page", "--reason", "INC-13");
    const { state, holdReason, readers } = await objectExplained("configmap/page");
    expect({ state, holdReason }).toEqual({ state: "held", holdReason: expect.stringMatching(/^INC-13\b/) });
    expect(readers.find(({ name }) => name === "web")?.hold?.message).toMatch(/hold on ConfigMap "page": "INC-13\b/);
    expect((await run("explain", "cm/page")).out).toMatch(
      /^Changes are held: "INC-13.*\. Run: wave release configmap\/page /m,
    );
    await editConfigMap("page", "2");
    expect((await explained("deployments/web")).hold?.message).toMatch(/hold on ConfigMap "page": "INC-13\b/);
    expect((await run("list", "-o", "wide")).out).toContain('"INC-13');
  });

  it("shows annotations that have no effect on it, and explain of a reader shows them too", async () => {
    const { run, merge, explained } = await scene();
    await merge("configmaps/page", { metadata: { annotations: { "wave.pusher.com/window": "Mon 09:00-10:00" } } });
    const message = 'Annotation "wave.pusher.com/window" has no effect on a ConfigMap. Set it on the workload.';
    expect((await run("explain", "cm/page")).out).toContain(`Warning: ${message}\n`);
    expect((await explained("deployments/web")).warnings).toContainEqual({
      reason: "InvalidAnnotation",
      message: `ConfigMap "page": ${message}`,
    });
  });

  it("ends with 1 if it does not exist, and names the workloads that wait for it", async () => {
    const { run, createWorkload } = await scene();
    expect(await run("explain", "cm/none")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^error: configmap "none" not found/),
    });
    await createWorkload("deployments/mail", { envFrom: [{ secretRef: { name: "db" } }] });
    const { code, out } = await run("explain", "secret/db");
    expect(code).toBe(1);
    expect(out).toMatch(/^deployment\/mail +waiting +all +waiting$/m);
  });
});
