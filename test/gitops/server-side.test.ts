import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { podsToBe, reads, type Scene, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until, wave } from "../control-plane/wave-process.ts";
import { makeNamespace, type Namespace, workload, workloadPath } from "../end-to-end/objects.ts";
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

    it("conflicts with no field of a hold whose end was cut off between two writes", async () => {
      const owners = (namespace: string) => schedulerOwners(cluster, namespace, "cut-off");
      const cutOff = async ({ name, create }: Namespace) => {
        await create(workload("cut-off", reads("cut-off")));
        const path = `${workloadPath(name, kind, "cut-off")}?fieldManager=wave`;
        const body = { spec: { template: { spec: { schedulerName: "restored" } } } };
        await cluster.api("PATCH", path, body, "application/merge-patch+json");
      };
      await scene.namespace.configMap("cut-off", { a: "1" });
      await cutOff(scene.namespace);
      await until("Wave to give the field up", async () => ((await owners(ns)).length === 0 ? true : undefined));

      const unwatched = await makeNamespace(cluster, `${ns}-unwatched`);
      await cutOff(unwatched);
      expect(await owners(unwatched.name)).toEqual(["wave"]);
      const release = ["release", "--scheduling-holds", "-n", unwatched.name, "--kubeconfig", cluster.kubeconfig];
      await promisify(execFile)(wave, release);
      expect(await owners(unwatched.name)).toEqual([]);
    });
  },
);
