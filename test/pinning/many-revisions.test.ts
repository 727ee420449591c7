import { expect, it } from "vitest";
import { copyLimits } from "../../src/domain/pinning/collect.ts";
import { rolledOut, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { newHash, recordedHash, waveEvents } from "../end-to-end/state.ts";
import { pointsPods } from "./pointed.ts";
import { applyPointingPolicy, createPinned, pagesRead } from "./scenarios.ts";

const edits = 1_000;
const [ns, name, kind] = ["pinned-revisions", "web", "Deployment"] as const;

describeOnControlPlane("a pinned workload with 1,000 revisions", (cluster) => {
  it("has a limited number of copies and revisions, and reads its last edit", { timeout: 900_000 }, async () => {
    const scene = await startScene(cluster, ns, { webhooks: false, args: ["--pin-config"] });
    try {
      await applyPointingPolicy(cluster, ns);
      await pointsPods(cluster, ns);
      await createPinned(scene, kind, name);
      let hash = await recordedHash(cluster, ns, kind, name);
      for (let i = 1; i <= edits; i++) {
        await scene.namespace.edit("ConfigMap", name, { page: `${i}` });
        hash = await newHash(cluster, ns, kind, name, hash);
      }
      await rolledOut(scene, kind, name);
      await until("the last page", async () =>
        (await pagesRead(scene, name)).join() === `${edits}` ? true : undefined,
      );
      const copies = await cluster.list(
        `/api/v1/namespaces/${ns}/configmaps?labelSelector=wave.pusher.com/pinned-copy=true`,
      );
      expect(copies).toHaveLength(copyLimits.objects);
      await until("the old revisions to be deleted", async () => {
        const revisions = await cluster.list(`/apis/apps/v1/namespaces/${ns}/replicasets?labelSelector=app=${name}`);
        return revisions.length <= 11 ? true : undefined;
      });
      const unpinned = (await waveEvents(cluster, ns, name)).filter(({ reason }) => reason === "Unpinned");
      expect(unpinned.map(({ message }) => message)).toEqual([expect.stringContaining("200 or 20 MiB")]);
    } finally {
      await scene.wave.stop();
    }
  });
});
