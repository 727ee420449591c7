import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { type Copies, pinnedScene, type WantedPod } from "../../../test/support/cli/pinned-scene.ts";
import { configMap } from "../../../test/support/domain/objects.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import { formatRejected, rejectionDigest } from "../../domain/pinning/rejections.ts";

const sandbox = await startSandbox({ controllers: false });
afterAll(() => sandbox.close());

let scenes = 0;
/** A Deployment `web` that Wave rolled and pinned. Its Pods are those that a test creates. */
async function scene(annotations: Readonly<Record<string, string>> = {}) {
  const namespace = `pins-${++scenes}`;
  const cluster = await pinnedScene(sandbox, namespace);
  await cluster.createConfigMap("page", "1");
  await cluster.createConfigMap("flags", "1");
  await cluster.createWeb(annotations);
  const copies: Copies = {
    page: await cluster.createCopy("page", { key: "1" }),
    flags: await cluster.createCopy("flags", { key: "1" }),
  };
  const hash = await cluster.pin(copies);
  await cluster.createRevision(1, hash, copies);
  const reads = { live: ["page", "flags"], copies: [copies.page ?? "", copies.flags ?? ""] };
  const createPods = async (...pods: readonly Partial<WantedPod>[]) => {
    for (const each of pods)
      await cluster.createPod({ revision: 1, hash, pinned: copies, reads: reads.copies, ...each });
    await cluster.complete();
  };
  const explain = async (...args: readonly string[]) =>
    (await cluster.run("explain", "deploy/web", "--pin-config", ...args)).out;
  const explainJson = () => cluster.explained("deployments/web", "--pin-config");
  return { ...cluster, namespace, copies, hash, reads, createPods, explain, explainJson };
}

/** The lines of an explanation that begin with this label. */
function row(text: string, label: string): string | undefined {
  return text.split("\n").find((line) => line.startsWith(`${label} `));
}

describe("wave explain", () => {
  it("counts Pods whose spec references the pinned copies", async () => {
    const { createPods, explain, explainJson, run } = await scene();
    await createPods({}, {});
    expect(row(await explain(), "Pinned")).toBe("Pinned       2 of 2 Pods read pinned copies.");
    expect(await explainJson()).toMatchObject({
      state: "current",
      because: null,
      pods: { total: 2, current: 2 },
      pinning: { pinned: 2, partlyPinned: 0, unpinned: 0, why: [] },
    });
    expect((await run("list", "--pin-config")).out).toMatch(/^deployment\/web +current +2\/2 +2\/2 +- /m);
  });

  it("judges a Pod by its spec, not by its annotation", async () => {
    const { createPods, explain, explainJson, reads, run } = await scene();
    await createPods({}, { reads: reads.live }, { reads: reads.live });
    expect(row(await explain(), "Pinned")).toBe(
      "Pinned       1 of 3 Pods read pinned copies. 2 Pods are unpinned: no policy or webhook pointed the Pods at the pinned copies. With webhooks, Wave replaces the Pods. Otherwise, install the chart with pinConfig.enabled=true, then restart the Pods.",
    );
    expect(await explainJson()).toMatchObject({
      state: "current",
      because: "unpinned",
      pods: { total: 3, current: 3 },
      pinning: { pinned: 1, unpinned: 2 },
    });
    const wide = (await run("list", "--pin-config", "-owide")).out;
    expect(wide).toMatch(
      /^deployment\/web +current +3\/3 +3\/3 +unpinned .*2 Pods are unpinned: no policy or webhook /m,
    );
  });

  it("reports Pods without annotation, and Pods that read a part of the configuration live", async () => {
    const { createPods, explainJson, reads, copies } = await scene();
    await createPods({ pinned: undefined, reads: reads.live }, { reads: ["page", copies.flags ?? ""] });
    const { because, pinning } = await explainJson();
    expect({ because, pinning }).toEqual({
      because: "unpinned",
      pinning: {
        pinned: 0,
        partlyPinned: 1,
        unpinned: 1,
        why: [
          "1 Pod is unpinned, without annotation wave.pusher.com/pinned. Delete such a Pod: the next one is pinned.",
          '1 Pod is partly pinned. Live configuration: ConfigMap "page".',
        ],
      },
    });
  });

  it("reports content that was rolled back, and unpinned Pods that started with it", async () => {
    const { createPods, explain, explainJson, reads, merge, editConfigMap, namespace, run, read } = await scene();
    await createPods({});
    await editConfigMap("page", "2");
    const object = (await read("deployments/web")) as never;
    const workload = toWorkload(builtInKinds[0] as never, object);
    const lookup = () => ({ ...configMap("page", { key: "2" }), namespace });
    const rejected = formatRejected(new Map([["page", rejectionDigest(workload, lookup, "page")]]));
    await merge(
      "deployments/web",
      { metadata: { annotations: { "wave.pusher.com/rejected-configmaps": rejected } } },
      "wave",
    );
    await createPods({});
    const text = await explain();
    const why =
      'Rolled back: Pods read the earlier content of ConfigMap "page". Wave does not roll to the live content until it changes, or until you run wave resume.';
    expect(row(text, "State")).toBe("State        rolledBack");
    expect(row(text, "Pods")).toBe("Pods         2 of 2 run with the configuration of the pod template.");
    expect(text).toContain(`Warnings:\n  ${why}\n`);
    expect(await explainJson()).toMatchObject({ state: "rolledBack", message: why, rolledBack: ["page"] });
    expect(await run("wait", "deploy/web", "--pin-config", "--timeout=0")).toMatchObject({
      code: 1,
      err: expect.stringContaining(`rolledBack. ${why}\n`),
    });
    await createPods({ reads: reads.live }, {}, {});
    expect(await explainJson()).toMatchObject({ pods: { total: 5, current: 4 } });
    await editConfigMap("page", "3");
    expect(await explainJson()).toMatchObject({ outcome: "roll", rolledBack: [] });
  });

  it("reports that pins are written with the next rollout, and that a flag is missing", async () => {
    const namespace = `pins-${++scenes}`;
    const { createConfigMap, createWeb, explained } = await pinnedScene(sandbox, namespace);
    await createConfigMap("page", "1");
    await createConfigMap("flags", "1");
    await createWeb();
    expect((await explained("deployments/web", "--pin-config")).notes).toEqual([
      "Not pinned yet. Wave pins the Pods with the next rollout.",
    ]);
    expect((await explained("deployments/web")).notes).toEqual([
      "Annotation pin-config has no effect: Wave runs without --pin-config.",
    ]);
  });

  it("counts the Pods of the old revision that may read a held change", async () => {
    const namespace = `pins-${++scenes}`;
    const cluster = await pinnedScene(sandbox, namespace);
    await cluster.createConfigMap("page", "1");
    await cluster.createConfigMap("flags", "1");
    await cluster.createWeb({ "wave.pusher.com/pin-config": "false", "wave.pusher.com/hold": "true" });
    await cluster.roll("deployments/web");
    const { recordedHash } = await cluster.explained("deployments/web");
    await cluster.createRevision(1, recordedHash ?? "");
    for (let i = 0; i < 2; i++)
      await cluster.createPod({ revision: 1, hash: recordedHash ?? "", reads: ["page", "flags"] });
    await cluster.complete();
    expect(await cluster.explained("deployments/web")).toMatchObject({ state: "current", heldChange: null });
    await cluster.editConfigMap("page", "2");
    const { heldChange, notes } = await cluster.explained("deployments/web");
    expect(heldChange?.files).toBe(2);
    expect(notes).toContain(
      "2 Pods of the old revision mount live configuration. Mounted files may already show the held change.",
    );
    expect(notes).toContain(
      'To keep ConfigMaps of old Pods unchanged, set annotation wave.pusher.com/pin-config: "true".',
    );
    expect((await cluster.run("list", "-owide")).out).toContain("2 Pods of the old revision mount live configuration.");
  });

  it("does not count pinned Pods that keep their content", async () => {
    const { createPods, explainJson, editConfigMap } = await scene({ "wave.pusher.com/hold": "true" });
    await createPods({}, {});
    await editConfigMap("page", "2");
    expect(await explainJson()).toMatchObject({
      state: "held",
      pods: { current: 0 },
      heldChange: { files: 0, env: 0 },
    });
  });
});
