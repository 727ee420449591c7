import { createHash } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());

let scenes = 0;
async function scene() {
  const namespace = `migrate-${++scenes}`;
  const cluster = commandScene(sandbox, namespace);
  await cluster.createNamespace(namespace);
  await cluster.createConfigMap("page", "1");
  return {
    ...cluster,
    namespace,
    migrate: (...args: readonly string[]) => cluster.run("migrate", "--dry-run", ...args),
  };
}

/** Returns the hash that Wave in Go records for the ConfigMap `page` with this value. */
function hashInGo(value: string): string {
  const text = `{"configMaps":{"page":{"key":"${Buffer.from(value).toString("base64")}"}},"secrets":{}}`;
  return createHash("sha256").update(text).digest("hex");
}

const recorded = (hash: string) => ({
  spec: { template: { metadata: { annotations: { "wave.pusher.com/config-hash": hash } } } },
});

describe("wave migrate --dry-run", () => {
  it("lists effects and reasons, and ends with 1 only if a workload would roll", async () => {
    const { createWorkload, merge, migrate } = await scene();
    await createWorkload("deployments/current");
    await merge("deployments/current", recorded(hashInGo("1")), "wave");
    expect(await migrate()).toMatchObject({
      code: 0,
      err: "",
      out: expect.stringContaining("0 of 1 workload would roll."),
    });
    await createWorkload("deployments/stale");
    await merge("deployments/stale", recorded(hashInGo("0")), "wave");
    const { code, out } = await migrate("-o", "json");
    expect(code).toBe(1);
    expect(JSON.parse(out).workloads).toMatchObject([
      { name: "current", compatibility: ["wave"], effect: "current" },
      { name: "stale", compatibility: ["wave"], effect: "roll" },
    ]);
  });

  it("understands all annotations unless --compatibility selects some, and names other controllers", async () => {
    const { createWorkload, migrate, namespace } = await scene();
    await createWorkload("deployments/sap", {
      annotations: {
        "wave.pusher.com/update-on-config-change": undefined,
        "pod-reloader.cs.sap.com/configmaps": "page",
      },
    });
    const controller = { containers: [{ name: "reloader", image: "ghcr.io/stakater/reloader:v1.4.0@sha256:00" }] };
    await createWorkload("deployments/tool", {
      annotations: { "wave.pusher.com/update-on-config-change": "false" },
      spec: {
        selector: { matchLabels: { app: "tool" } },
        template: { metadata: { labels: { app: "tool" } }, spec: controller },
      },
    });
    const { out } = await migrate("-o", "json");
    const { workloads, controllers } = JSON.parse(out);
    expect(workloads).toMatchObject([{ name: "sap", compatibility: ["sap"], effect: "roll" }]);
    expect(controllers).toContainEqual({
      controller: "Stakater Reloader",
      compatibility: "stakater",
      namespace,
      name: "tool",
      replicas: 2,
    });
    expect(JSON.parse((await migrate("--compatibility=wave", "-o", "json")).out).workloads).toEqual([]);
  });

  it("ends with 3 if it may not list other controllers or the matches of a regular expression", async () => {
    const { createWorkload, merge, migrate, namespace } = await scene();
    await createWorkload("deployments/web");
    await merge("deployments/web", recorded(hashInGo("1")), "wave");
    const others = ({ path }: { readonly path: string }) => /^\/apis\/apps\/v1\/deployments(\?|$)/.test(path);
    sandbox.faults.add({ match: others, action: { type: "status", status: 403 } });
    const blind = await migrate();
    sandbox.faults.clear();
    expect(blind).toMatchObject({ code: 3, out: expect.stringContaining("0 of 1 workload would roll.") });
    expect(blind.err).toContain(
      "Other controllers are unknown: you do not have permission to list deployments in all namespaces.",
    );
    await merge("deployments/web", {
      metadata: { annotations: { "configmap.reloader.stakater.com/reload": "other-.*" } },
    });
    const names = ({ path }: { readonly path: string }) => path.endsWith(`${namespace}/configmaps`);
    sandbox.faults.add({ match: names, action: { type: "status", status: 403 } });
    const unnamed = await migrate("-ojson");
    sandbox.faults.clear();
    expect(unnamed.code).toBe(3);
    expect(JSON.parse(unnamed.out).workloads).toMatchObject([
      { effect: "unknown", reason: expect.stringContaining("The matches of regular expressions are unknown") },
    ]);
  });

  it("rejects a call without --dry-run, because it never writes", async () => {
    const { run } = await scene();
    const { code, err } = await run("migrate");
    expect({ code, err }).toEqual({
      code: 2,
      err: "error: wave migrate only previews; add --dry-run. To migrate, start Wave with --compatibility: wave help migration\n",
    });
  });
});
