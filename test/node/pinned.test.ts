import { beforeAll, describe, expect, it } from "vitest";
import { until } from "../control-plane/wave-process.ts";
import { makeNamespace, workload } from "../end-to-end/objects.ts";
import { recordedHash } from "../end-to-end/state.ts";
import { admits, helmWave, leader, makeSystem, type Pod, podsOf, rolledOut } from "./installed.ts";
import { everywhere, exitCodes, type Pages, readsEverywhere, refresh, restartContainer } from "./reading-pods.ts";
import { type ReadingScene, startReading } from "./reading-scene.ts";
import { describeOnNode } from "./suite.ts";

interface Half {
  readonly title: string;
  readonly pinned: boolean;
  /** What a container reads that already ran when the page was edited. */
  readonly running: (old: string, page: string) => Pages;
  /** What a container reads that was started after the edit. */
  readonly started: (old: string, page: string) => Pages;
}

/** What Pods of an old pod template read after an edit that Wave does not roll. */
const halves: readonly Half[] = [
  {
    title: "without pin-config, Kubernetes gives the new configuration to Pods",
    pinned: false,
    running: (old, page) => ({ ...everywhere(old), volume: page, projected: page }),
    started: (_, page) => everywhere(page),
  },
  {
    title: "with pin-config, Pods keep the old configuration",
    pinned: true,
    running: everywhere,
    started: everywhere,
  },
];

describeOnNode("the configuration of an old pod template", (node) => {
  beforeAll(async () => {
    const { cluster } = node();
    const namespace = await makeNamespace(cluster, "probe");
    await namespace.configMap("page", { page: "old" });
    await makeSystem(cluster);
    await helmWave(cluster, "install", "pinConfig.enabled=true", "extraArgs={--soak=1s}");
    await admits(cluster, "probe", workload("probe", readsEverywhere("page")));
    await leader(cluster);
  });

  describe.for(halves)("$title", ({ pinned, running, started }) => {
    const start = (name: string, page?: string) =>
      startReading(node(), `${name}-${pinned ? "pinned" : "live"}`, { pinned, page });

    /** Expects what a Pod of "web" reads: at once, after a restart of its container, and in a new Pod of the same template. */
    const expectPages = async ({ kubectl, pages }: ReadingScene, old: Pod, before: string, page: string) => {
      const { cluster } = node();
      const { namespace = "", name, uid } = old.metadata;
      await refresh(cluster, namespace, name);
      await expect.poll(() => pages(old), { message: "the Pod that runs" }).toEqual(running(before, page));
      await restartContainer(node(), old);
      // Kubernetes has created a directory for a file that did not exist, and keeps the directory for the life of the Pod.
      const restarted = { ...started(before, page), ...(before === "" ? { subPath: "" } : {}) };
      await expect.poll(() => pages(old), { message: "its container, started again" }).toEqual(restarted);
      await kubectl("scale", "deployment/web", "--replicas=2");
      const added = await until("a second Pod", async () =>
        (await podsOf(cluster, namespace, "app=web")).find(
          ({ metadata, status }) => metadata.uid !== uid && status.phase === "Running",
        ),
      );
      await expect.poll(() => pages(added), { message: "a Pod that was added" }).toEqual(started(before, page));
      expect(await pages(old)).toEqual(restarted);
      const hash = ({ metadata }: Pod) => metadata.annotations?.["wave.pusher.com/config-hash"];
      expect(hash(added), "the hash, because Wave has not rolled").toBe(hash(old));
    };

    it.for([
      ["an edit", "old"],
      ["the creation of an optional ConfigMap", undefined],
    ] as const)("while a hold delays %s", async ([, page]) => {
      const scene = await start(page === undefined ? "hold-absent" : "hold", page);
      const old = await scene.create("web");
      expect(await scene.pages(old)).toEqual(everywhere(page ?? ""));
      await scene.kubectl("annotate", "deployment/web", "wave.pusher.com/hold=true");
      await scene.edit("new");
      await scene.event("web", "RolloutHeld");
      await expectPages(scene, old, page ?? "", "new");
    });

    it("while an edit is halted because the canary failed", async () => {
      const { cluster } = node();
      const scene = await start("halt", "old");
      const canary = await scene.create("canary", {
        command: '[ "$PAGE" != bad ] && exec sleep infinity',
        annotations: { "wave.pusher.com/priority": "1" },
        // A container that ends at once is ready for a moment, but not for 2 s.
        spec: { minReadySeconds: 2, progressDeadlineSeconds: 4 },
      });
      const old = await scene.create("web");
      await scene.edit("bad");
      await scene.event("web", "RolloutHalted");
      await expectPages(scene, old, "old", "bad");
      // Kubernetes keeps the old Pod of the canary, because the new Pod does not become available.
      await restartContainer(node(), canary);
      if (pinned) await expect.poll(() => scene.pages(canary)).toEqual(everywhere("old"));
      else await expect.poll(() => exitCodes(cluster, canary)).toContain(1);
    });

    it("after kubectl rollout undo", async () => {
      const { cluster } = node();
      const scene = await start("undo", "old");
      await scene.create("web");
      const hash = () => recordedHash(cluster, scene.namespace.name, "Deployment", "web");
      const before = await hash();
      await scene.edit("new");
      await until("the new hash", async () => ((await hash()) === before ? undefined : true));
      await rolledOut(cluster, scene.namespace.name, "deployment/web");
      await scene.kubectl("rollout", "undo", "deployment/web");
      await rolledOut(cluster, scene.namespace.name, "deployment/web");
      const pod = await scene.onlyPod("web");
      await expect.poll(() => scene.pages(pod)).toEqual(started("old", "new"));
    });
  });
});
