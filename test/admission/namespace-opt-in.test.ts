import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { type WorkloadKind, workload, workloadKinds, workloadPath } from "../end-to-end/objects.ts";
import { getWorkload, recordedHash, type WorkloadState } from "../end-to-end/state.ts";
import { lifeOf, podsToBe, reads, rolledOut, type Scene, startScene, writtenByController } from "./admitted.ts";

const ns = "admission-namespace";

/** A workload without annotations, also without those of other controllers. */
function silent(name: string, kind: WorkloadKind) {
  const { metadata, ...rest } = workload(name, reads(name), { kind });
  return { ...rest, metadata: { name: metadata.name } };
}

describeOnControlPlane("admission in a Namespace that opts in", (cluster) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(cluster, ns, { webhooks: true });
    const annotations = { "wave.pusher.com/update-on-config-change": "true" };
    await cluster.api(
      "PATCH",
      `/api/v1/namespaces/${ns}`,
      { metadata: { annotations } },
      "application/merge-patch+json",
    );
    await scene.namespace.configMap("known", { a: "1" });
    await until("Wave to know of it", async () => {
      const path = `${workloadPath(ns, "Deployment")}?dryRun=All`;
      const { spec } = await cluster.api<WorkloadState>("POST", path, silent("known", "Deployment"));
      return spec.template.metadata.annotations?.["wave.pusher.com/config-hash"];
    });
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });

  describe.for(workloadKinds)("of a $kind without annotations", ({ kind }) => {
    it("sets the hash at creation, and the controller writes nothing", async () => {
      const name = `exists-${kind.toLowerCase()}`;
      await scene.namespace.configMap(name, { a: "1" });
      await scene.namespace.create(silent(name, kind));
      expect(await recordedHash(cluster, ns, kind, name)).toMatch(/^v2:[0-9a-f]{64}$/);
      await rolledOut(scene, kind, name);
      await scene.caughtUp();
      expect(await lifeOf(scene, kind, name)).toEqual({ revisions: 1, started: 1 });
      expect(await writtenByController(scene, kind, name)).toBe(false);
    });

    it("holds its Pods while an object is missing, and then starts them once", async () => {
      const name = `missing-${kind.toLowerCase()}`;
      await scene.namespace.create(silent(name, kind));
      const { metadata, spec } = await getWorkload(cluster, ns, kind, name);
      expect(spec.template.spec.schedulerName).toBe("wave.pusher.com/invalid");
      expect(metadata.annotations?.["wave.pusher.com/scheduling-disabled"]).toBe("default-scheduler");
      await podsToBe(scene, name, "Pending");
      await scene.namespace.configMap(name, { a: "1" });
      await rolledOut(scene, kind, name);
      expect(await lifeOf(scene, kind, name)).toMatchObject({ started: 1 });
      expect((await getWorkload(cluster, ns, kind, name)).spec.template.spec.schedulerName).toBe("default-scheduler");
    });
  });
});
