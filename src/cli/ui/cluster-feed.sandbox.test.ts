import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";
import { testUi } from "../../../test/support/cli/ui.ts";

const sandbox = await startSandbox({ controllers: false });
afterAll(() => sandbox.close());

/** More than are read one by one after a change. */
const namespaces = Array.from({ length: 20 }, (_, index) => `team-${index}`);
const scenes = namespaces.map((each) => commandScene(sandbox, each));
for (const [index, scene] of scenes.entries()) {
  await scene.createNamespace(namespaces[index] ?? "");
  await scene.createConfigMap("page", "1");
  await scene.createWorkload("deployments/web");
}
const [first] = scenes;

/** The lists that the page has requested, without watches. */
const lists = () =>
  sandbox.requests.filter(({ verb, userAgent }) => verb === "list" && userAgent.startsWith("wave-ui")).length;

describe("the page of a cluster with many namespaces", () => {
  it("shows the workloads of all namespaces, and then reads only what changes", async () => {
    await using ui = await testUi([], { ...first?.env, WAVE_SETTLE: "0" });
    const reader = ui.open();
    await reader.until(({ clusters }) => (clusters.sandbox?.connection.state === "connected" ? true : undefined));
    const shown = Object.values(reader.model?.workloads ?? {}).map(({ namespace, name }) => `${namespace}/${name}`);
    expect(shown.sort()).toEqual(namespaces.map((each) => `${each}/web`).sort());
    await reader.until(({ clusters }) => clusters.sandbox?.doctor ?? undefined);
    const before = lists();
    await first?.merge("deployments/web", { metadata: { annotations: { "wave.pusher.com/hold": "true" } } });
    await reader.until(({ tasks }) => Object.values(tasks)[0]);
    // The lists of one namespace, not of twenty.
    expect(lists() - before).toBeLessThan(10);
  });

  it("shows a workload that opts in later, and removes one that is deleted", async () => {
    await using ui = await testUi([], { ...first?.env, WAVE_SETTLE: "0" });
    const reader = ui.open();
    await reader.until(({ clusters }) => (clusters.sandbox?.connection.state === "connected" ? true : undefined));
    const out = { "wave.pusher.com/update-on-config-change": "false" };
    await first?.createWorkload("deployments/late", { annotations: out });
    await first?.merge("deployments/late", {
      metadata: { annotations: { "wave.pusher.com/update-on-config-change": "true" } },
    });
    const id = "sandbox/team-0/deployment/late";
    await reader.until(({ workloads }) => workloads[id]);
    const path = "/apis/apps/v1/namespaces/team-0/deployments/late";
    await fetch(`${sandbox.url}${path}`, { method: "DELETE" });
    await reader.until(({ workloads }) => (workloads[id] === undefined ? true : undefined));
  });
});
