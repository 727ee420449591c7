import { expect, it } from "vitest";
import { podsToBe, reads, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { makeNamespace, workload } from "../end-to-end/objects.ts";
import { newHash } from "../end-to-end/state.ts";

/** The owners that the Pods name: names of built-in JavaScript properties, an invalid name, and objects that do not exist. */
const owners = [
  { kind: "constructor", name: "x" },
  { kind: "__proto__", name: "x" },
  { kind: "StatefulSet", name: ".." },
  ...Array.from({ length: 47 }, (_, index) => ({ kind: "StatefulSet", name: `forged-${index}` })),
];

describeOnControlPlane("a tenant whose Pods pretend to be held by a scheduling hold", (cluster) => {
  it("admits the Pods of other workloads after their scheduling hold was removed", async () => {
    const [evil, quiet] = ["hostile-pods", "hostile-held"];
    await makeNamespace(cluster, evil);
    const scene = await startScene(cluster, quiet, { webhooks: true, args: [`--namespaces=${evil},${quiet}`] });
    try {
      const pods = `/api/v1/namespaces/${evil}/pods`;
      for (const [index, owner] of owners.entries()) {
        const reference = {
          apiVersion: "apps/v1",
          uid: `00000000-0000-0000-0000-${index}`,
          controller: true,
          ...owner,
        };
        await cluster.api("POST", pods, {
          metadata: { name: `pretender-${index}`, ownerReferences: [reference] },
          spec: { schedulerName: "wave.pusher.com/invalid", containers: [{ name: "app", image: "nginx" }] },
        });
      }
      const ordered = { kind: "StatefulSet", spec: { podManagementPolicy: "OrderedReady" } } as const;
      await scene.namespace.create(workload("db", reads("db"), ordered));
      await podsToBe(scene, "db", "Pending");
      await scene.namespace.configMap("db", { a: "1" });
      await newHash(cluster, quiet, "StatefulSet", "db");
      await podsToBe(scene, "db", "Running");
      const pretenders = await cluster.list(pods);
      expect(pretenders.map(({ metadata }) => metadata.name)).toContain("pretender-0");
    } finally {
      await scene.wave.stop();
    }
  });
});
