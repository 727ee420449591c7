import { beforeAll, describe, expect, it } from "vitest";
import { until } from "../control-plane/wave-process.ts";
import { makeNamespace, type Namespace, workload } from "../end-to-end/objects.ts";
import { getWorkload, recordedHash, waveEvents } from "../end-to-end/state.ts";
import { admits, helmWave, leader, makeSystem, type Pod, podsOf, rolledOut } from "./installed.ts";
import { everywhere, type Pages, pagesOf, readsEverywhere, refresh, restartContainer } from "./reading-pods.ts";
import { describeOnNode } from "./suite.ts";

/** What Pods of an old pod template read after an edit that Wave does not roll: the page "old", or the edited page. */
const halves = [
  {
    title: "without pin-config",
    suffix: "live",
    pinned: false,
    read: "read the new page",
    /** Files are refreshed in a running container. A new container reads everything again. */
    running: (page: string): Pages => ({ ...everywhere("old"), volume: page, projected: page }),
    started: everywhere,
  },
] as const;

describeOnNode("Pods of an old pod template", (node) => {
  beforeAll(async () => {
    const { cluster } = node();
    const namespace = await makeNamespace(cluster, "probe");
    await namespace.configMap("page", { page: "old" });
    await makeSystem(cluster);
    await helmWave(cluster, "install", "extraArgs={--soak=1s}");
    await admits(cluster, "probe", workload("probe", readsEverywhere("page")));
    await leader(cluster);
  });

  describe.for(halves)("$title", ({ suffix, pinned, read, running, started }) => {
    const kubectl = (ns: string, ...args: string[]) => node().cluster.kubectl(["-n", ns, ...args]);

    /** Creates a namespace with ConfigMap "page" and an unpinned Pod that reads it, and returns how to create workloads and edit the page. */
    const startScene = async (name: string) => {
      const { cluster } = node();
      const ns = `${name}-${suffix}`;
      const namespace: Namespace = await makeNamespace(cluster, ns);
      await namespace.configMap("page", { page: "old" });
      const create = async (
        workloadName: string,
        { command, annotations, spec }: { command?: string; annotations?: object; spec?: object } = {},
      ): Promise<Pod> => {
        const podSpec = readsEverywhere("page", command);
        const pin = pinned ? { "wave.pusher.com/pin-config": "true" } : {};
        await namespace.create(
          workload(workloadName, podSpec, { annotations: { ...pin, ...annotations }, spec: { ...spec } }),
        );
        await until("the hash, and the pinned copies", async () => {
          const { spec } = await getWorkload(cluster, ns, "Deployment", workloadName);
          const { "wave.pusher.com/config-hash": hash, "wave.pusher.com/pinned": copies } =
            spec.template.metadata.annotations ?? {};
          return hash !== undefined && (copies !== undefined) === pinned ? true : undefined;
        });
        await rolledOut(cluster, ns, `deployment/${workloadName}`);
        const pod = await until("one Pod", async () => {
          const pods = await podsOf(cluster, ns, `app=${workloadName}`);
          return pods.length === 1 ? pods[0] : undefined;
        });
        expect(await pagesOf(cluster, ns, pod.metadata.name)).toEqual(everywhere("old"));
        return pod;
      };
      const edit = async (page: string) => {
        const probe = { metadata: { name: "probe" }, spec: readsEverywhere("page") };
        await cluster.api("POST", `/api/v1/namespaces/${ns}/pods`, probe);
        await kubectl(ns, "wait", "--for=condition=Ready", "pod/probe", "--timeout=240s");
        await namespace.edit("ConfigMap", "page", { page });
        await refresh(cluster, ns, "probe");
        await until("the new page in the probe", async () =>
          (await pagesOf(cluster, ns, "probe")).volume === page ? true : undefined,
        );
      };
      return { ns, create, edit, pages: (pod: Pod) => pagesOf(cluster, ns, pod.metadata.name) };
    };
    type Scene = Awaited<ReturnType<typeof startScene>>;

    /** Expects what a Pod of the old template of a Deployment reads: at once, after a restart of its container, and in a new Pod. */
    const expectPages = async ({ ns, pages }: Scene, name: string, old: Pod, page: string) => {
      const { cluster } = node();
      await refresh(cluster, ns, old.metadata.name);
      await expect.poll(() => pages(old), { message: "the Pod that runs" }).toEqual(running(page));
      await restartContainer(node(), ns, old);
      await expect.poll(() => pages(old), { message: "its container that was started again" }).toEqual(started(page));
      await kubectl(ns, "scale", `deployment/${name}`, "--replicas=2");
      const added = await until("a second Pod", async () => {
        const pods = await podsOf(cluster, ns, `app=${name}`);
        return pods.find(({ metadata, status }) => metadata.uid !== old.metadata.uid && status.phase === "Running");
      });
      await expect.poll(() => pages(added), { message: "a Pod that was added" }).toEqual(started(page));
      expect(await pages(old)).toEqual(started(page));
      const hash = (pod: Pod) => pod.metadata.annotations?.["wave.pusher.com/config-hash"];
      expect(hash(added), "Wave has not rolled").toBe(hash(old));
    };

    /** Returns the exit codes of the container of a Pod. */
    const endedWith = async ({ metadata: { namespace = "", name } }: Pod) => {
      const codes = "jsonpath={.status.containerStatuses[0]..exitCode}";
      return (await kubectl(namespace, "get", "pod", name, "-o", codes)).split(" ").map(Number);
    };

    const event = (ns: string, name: string, expected: string) =>
      until(`Event ${expected} of ${name}`, async () =>
        (await waveEvents(node().cluster, ns, name)).find(({ reason }) => reason === expected),
      );

    it(`${read} while their workload is on hold`, async () => {
      const scene = await startScene("hold");
      const old = await scene.create("web");
      await kubectl(scene.ns, "annotate", "deployment/web", "wave.pusher.com/hold=true");
      await scene.edit("new");
      await event(scene.ns, "web", "RolloutHeld");
      await expectPages(scene, "web", old, "new");
    });

    it(`${read} while a batch is halted because its canary failed`, async () => {
      const scene = await startScene("halt");
      // The Pods of the canary end if they read a bad page.
      const canary = await scene.create("canary", {
        command: '[ "$PAGE" != bad ] && exec sleep infinity',
        annotations: { "wave.pusher.com/priority": "1" },
        // A container that ends at once is ready for a moment, but not for 2 s.
        spec: { minReadySeconds: 2, progressDeadlineSeconds: 4 },
      });
      const old = await scene.create("web");
      await scene.edit("bad");
      await event(scene.ns, "web", "RolloutHalted");
      await expectPages(scene, "web", old, "bad");

      // Kubernetes keeps the old Pod of the canary, because the new Pod does not become available. But a restart of its container breaks it.
      await restartContainer(node(), scene.ns, canary);
      if (pinned) await expect.poll(() => scene.pages(canary)).toEqual(everywhere("old"));
      else
        await until("its container to end by itself", async () =>
          (await endedWith(canary)).includes(1) ? true : undefined,
        );
    });

    it(`${read} after kubectl rollout undo`, async () => {
      const { cluster } = node();
      const scene = await startScene("undo");
      await scene.create("web");
      const before = await recordedHash(cluster, scene.ns, "Deployment", "web");
      await scene.edit("new");
      await until("the new hash", async () =>
        (await recordedHash(cluster, scene.ns, "Deployment", "web")) === before ? undefined : true,
      );
      await rolledOut(cluster, scene.ns, "deployment/web");
      await kubectl(scene.ns, "rollout", "undo", "deployment/web");
      await rolledOut(cluster, scene.ns, "deployment/web");
      const undone = await until("the Pod of the old template", async () => {
        const pods = await podsOf(cluster, scene.ns, "app=web");
        return pods.length === 1 ? pods[0] : undefined;
      });
      await expect.poll(() => scene.pages(undone)).toEqual(started("new"));
    });
  });
});
