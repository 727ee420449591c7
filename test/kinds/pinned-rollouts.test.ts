import { expect, it } from "vitest";
import { startScene } from "../admission/admitted.ts";
import type { AnyObject } from "../control-plane/cluster.ts";
import { describeOnOwnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { waveEvents } from "../end-to-end/state.ts";
import { pointsPods } from "../pinning/pointed.ts";
import { applyPointingPolicy, pagesRead } from "../pinning/scenarios.ts";
import { define, hashOf, make, nextHash, type PlayedKind, pathOf, play, playedKinds, writesOf } from "./kinds.ts";

const rollouts = playedKinds.find(({ plural }) => plural === "rollouts") as PlayedKind;
const [ns, name] = ["pinned-rollouts", "web"];

/** Plays the controller of Argo Rollouts: each revision is a ReplicaSet with the pod template of its time. */
describeOnOwnControlPlane("a pinned Rollout of Argo", (cluster) => {
  it("reads its earlier configuration after an abort and after an undo", async () => {
    await define(cluster, rollouts);
    const args = ["--pin-config", `--workload-kinds=${rollouts.flag}`];
    const scene = await startScene(cluster, ns, { webhooks: false, args });
    const stored = () => cluster.api<AnyObject & { spec: { template: object } }>("GET", pathOf(rollouts, ns, name));
    const replicaSets = `/apis/apps/v1/namespaces/${ns}/replicasets`;
    const revision = async (digits: string) => {
      const { metadata, spec } = await stored();
      const labels = { app: name, "rollouts-pod-template-hash": digits };
      const owner = { apiVersion: rollouts.apiVersion, kind: "Rollout", name, uid: metadata.uid, controller: true };
      const { metadata: templateMetadata, ...rest } = spec.template as { metadata: object };
      const template = { ...rest, metadata: { ...templateMetadata, labels } };
      const body = {
        metadata: { name: `${name}-${digits}`, ownerReferences: [owner] },
        spec: { replicas: 1, selector: { matchLabels: labels }, template },
      };
      await cluster.api("POST", replicaSets, body);
      return spec.template;
    };
    const scale = (digits: string, replicas: number) =>
      cluster.kubectl(["-n", ns, "scale", `replicaset/${name}-${digits}`, `--replicas=${replicas}`]);
    const toRead = (page: string) =>
      until(`Pods that read ${page}`, async () => ((await pagesRead(scene, name)).join() === page ? true : undefined));
    try {
      await applyPointingPolicy(cluster, ns);
      await pointsPods(cluster, ns);
      await scene.namespace.configMap(name, { page: "old" });
      await make(cluster, rollouts, ns, name, { annotations: { "wave.pusher.com/pin-config": "true" } });
      const old = await nextHash(cluster, rollouts, ns, name);
      const template = await revision("1");
      expect(template).toHaveProperty(["metadata", "annotations", "wave.pusher.com/pinned"]);
      await play(cluster, rollouts, ns, name, 1);
      await toRead("old");
      await scene.namespace.edit("ConfigMap", name, { page: "new" });
      const hash = await nextHash(cluster, rollouts, ns, name, old);
      await revision("2");
      await scale("1", 0);
      await toRead("new");

      // An abort leaves the template of the Rollout as it is, and scales the stable ReplicaSet up again.
      const status = { status: { phase: "Degraded", abort: true } };
      await cluster.api("PATCH", `${pathOf(rollouts, ns, name)}/status`, status, "application/merge-patch+json");
      const writes = await writesOf(cluster, rollouts, ns, name);
      await scale("2", 0);
      await scale("1", 1);
      await toRead("old");
      await scene.caughtUp();
      expect(await hashOf(cluster, rollouts, ns, name)).toBe(hash);
      expect(await writesOf(cluster, rollouts, ns, name)).toBe(writes);

      // An undo writes the earlier template.
      await scene.namespace.merge(pathOf(rollouts, ns, name), { spec: { template } });
      await play(cluster, rollouts, ns, name, 1);
      await until("Event RolledBack", async () =>
        (await waveEvents(cluster, ns, name)).find(({ reason }) => reason === "RolledBack"),
      );
      await scene.caughtUp();
      expect(await hashOf(cluster, rollouts, ns, name)).toBe(old);
      await toRead("old");
    } finally {
      await scene.wave.stop();
    }
  });
});
