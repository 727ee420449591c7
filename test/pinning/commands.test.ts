import { execFile } from "node:child_process";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Explanation } from "../../src/cli/cluster/explanation/explanation.ts";
import type { HistoryEntry } from "../../src/cli/history/workload-history.ts";
import { rolledOut, type Scene, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until, wave as waveCommand } from "../control-plane/wave-process.ts";
import { kindNames } from "../end-to-end/objects.ts";
import { newHash, recordedHash } from "../end-to-end/state.ts";
import { annotate, applyPointingPolicy, createPinned } from "./scenarios.ts";

const ns = "pinned-commands";

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

describeOnControlPlane("a user of the commands with pinned workloads", (cluster) => {
  let scene: Scene;
  const run = (...args: readonly string[]) => runIn(ns, ...args);
  const runIn = (namespace: string, ...args: readonly string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const flags = ["--kubeconfig", cluster.kubeconfig, "-n", namespace, "--settle=0", "--pin-config"];
      const child = execFile(waveCommand, [...args, ...flags], (_error, out, err) =>
        resolve({ code: child.exitCode ?? -1, out, err }),
      );
    });
  const explained = async (workload: string): Promise<Explanation> =>
    JSON.parse((await run("explain", workload, "-ojson")).out);
  const history = async (workload: string): Promise<readonly HistoryEntry[]> =>
    JSON.parse((await run("history", workload, "-ojson")).out).revisions;

  beforeAll(async () => {
    scene = await startScene(cluster, ns, { webhooks: true, args: ["--pin-config"] });
    await applyPointingPolicy(cluster, ns);
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });

  it.for(kindNames)("sees the history of a %s, a held change, and an undo", async (kind) => {
    const app = `web-${kind.toLowerCase()}`;
    const target = `${kind.toLowerCase()}/${app}`;
    await createPinned(scene, kind, app);
    await until(`${target} to be current and pinned`, async () => {
      const { state, because, pinning, pods } = await explained(target);
      return state === "current" && because === null && pinning?.pinned === pods?.total ? true : undefined;
    });
    const first = await recordedHash(cluster, ns, kind, app);
    await annotate(scene, kind, app, { "wave.pusher.com/hold": "true" });
    await scene.namespace.edit("ConfigMap", app, { page: "new", more: "1" });
    await until(`${target} to be held`, async () => ((await explained(target)).state === "held" ? true : undefined));
    expect((await explained(target)).heldChange).toMatchObject({ rolled: 0, startedSince: 0, files: 0, env: 0 });
    const newest = (await history(target)).at(-1)?.revision ?? 0;
    const difference = await run("diff", target, `--revision=${newest}`);
    expect(difference.code).toBe(1);
    expect(difference.out).toMatch(
      new RegExp(`^${app} +page +changed\n${app} +more +added\n\n2 keys differ between `, "m"),
    );
    expect((await run("diff", target, `--revision=${newest}`, "--show-values")).out).toContain("\n- old\n+ new\n");
    await annotate(scene, kind, app, { "wave.pusher.com/hold": null });
    await newHash(cluster, ns, kind, app, first);
    await rolledOut(scene, kind, app);
    const changed = (await history(target)).at(-1);
    expect(changed).toMatchObject({ state: "current", cause: "configMaps" });
    expect(changed?.changes).toMatchObject([{ name: app, changed: ["page"], added: ["more"], removed: [] }]);
    expect(changed?.changes[0]?.editedBy).toEqual(expect.any(String));
    expect(changed?.pinning).toEqual({ pinned: changed?.pods, partlyPinned: 0, unpinned: 0 });
    await cluster.kubectl(["-n", ns, "rollout", "undo", target]);
    await rolledOut(scene, kind, app);
    await until(`${target} to be rolled back`, async () =>
      (await explained(target)).state === "rolledBack" ? true : undefined,
    );
    expect((await run("list")).out).toMatch(new RegExp(`^${target} +rolledBack `, "m"));
    const states = (await history(target)).map(({ state }) => state);
    expect(states.at(-1)).toBe("current");
    expect(states).toContain("rolledBack");
  });

  it("sees Pods that no policy or webhook points at their copies", async () => {
    const unpointed = await startScene(cluster, "unpinned-commands", { webhooks: false, args: ["--pin-config"] });
    await createPinned(unpointed, "Deployment", "web");
    await until("the Pods to be current and unpinned", async () => {
      const { out } = await runIn("unpinned-commands", "list", "-owide");
      return /^deployment\/web +current +(\d+)\/\1 +\1\/\1 +unpinned .* (1 Pod is|\d+ Pods are) unpinned: no policy or webhook /m.test(
        out,
      )
        ? true
        : undefined;
    });
    await unpointed.wave.stop();
  });
});
