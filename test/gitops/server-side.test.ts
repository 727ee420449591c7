import { afterAll, beforeAll, expect, it } from "vitest";
import { podsToBe, reads, type Scene, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { workload } from "../end-to-end/objects.ts";
import { getWorkload, newHash } from "../end-to-end/state.ts";
import { schedulerOwners } from "./scheduler-owners.ts";

const ns = "server-side";
const kind = "Deployment";

describeOnControlPlane(
  "kubectl apply --server-side, without --force-conflicts, of a workload with a scheduling hold",
  (cluster) => {
    let scene: Scene;
    beforeAll(async () => {
      scene = await startScene(cluster, ns, { webhooks: true });
    });
    afterAll(() => scene?.wave.stop());

    const scheduler = async (name: string) =>
      (await getWorkload(cluster, ns, kind, name)).spec.template.spec.schedulerName;

    it.for([
      ["no scheduler", undefined],
      ["the default scheduler", "default-scheduler"],
      ["another scheduler", "other-scheduler"],
    ] as const)(
      "may name %s before, during and after the hold, and then change it and remove it",
      async ([, first]) => {
        const name = first ?? "unnamed";
        const apply = (schedulerName: string | undefined) => {
          const object = workload(name, { ...reads(name), ...(schedulerName !== undefined && { schedulerName }) });
          Object.assign(object.metadata, { namespace: ns });
          return cluster.kubectl(["apply", "--server-side", "-f", "-"], JSON.stringify(object));
        };
        await apply(first);
        await podsToBe(scene, name, "Pending");
        await apply(first);
        expect(await scheduler(name)).toBe("wave.pusher.com/invalid");

        await scene.namespace.configMap(name, { a: "1" });
        await newHash(cluster, ns, kind, name);
        // Wave gives the field up right after its write.
        await until("the field to be without an owner", async () =>
          (await schedulerOwners(cluster, ns, name)).length === 0 ? true : undefined,
        );
        expect(await scheduler(name)).toBe(first ?? "default-scheduler");
        await apply(first);
        expect(await scheduler(name)).toBe(first ?? "default-scheduler");
        await apply("new-scheduler");
        expect(await scheduler(name)).toBe("new-scheduler");
        await apply(undefined);
        expect(await scheduler(name)).toBe("default-scheduler");
      },
    );
  },
);
