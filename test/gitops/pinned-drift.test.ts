import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reads, rolledOut, type Scene, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { type WorkloadKind, workload, workloadKinds } from "../end-to-end/objects.ts";
import { getWorkload, newHash, recordedHash, revisionsToBe, settledRevisions } from "../end-to-end/state.ts";
import { pointsPods } from "../pinning/pointed.ts";
import { applyPointingPolicy } from "../pinning/scenarios.ts";
import { differs, tools } from "./drift.ts";
import { missingTools } from "./missing-tools.ts";

const missing = missingTools();

describe.skipIf(missing !== undefined)(`drift${missing === undefined ? "" : ` (${missing})`}`, () => {
  describeOnControlPlane("of pinned workloads, for tools of GitOps,", (cluster) => {
    describe.for([
      { ns: "gitops-pinned", webhooks: true },
      { ns: "gitops-pinned-by-controller", webhooks: false },
    ])("with webhooks $webhooks", ({ ns, webhooks }) => {
      let scene: Scene;
      beforeAll(async () => {
        scene = await startScene(cluster, ns, { webhooks, args: ["--pin-config"] });
        await applyPointingPolicy(cluster, ns);
        await pointsPods(cluster, ns);
      });
      afterAll(async () => {
        await scene?.wave.stop();
      });
      const apply = (args: readonly string[], object: unknown) =>
        cluster.kubectl([...args, "-f", "-"], JSON.stringify(object));
      const pinned = async (kind: WorkloadKind, name: string) =>
        (await getWorkload(cluster, ns, kind, name)).spec.template.metadata.annotations?.["wave.pusher.com/pinned"];
      const cases = tools.flatMap((tool, index) => workloadKinds.map(({ kind }) => ({ ...tool, kind, index })));

      it.for(cases)(
        "$tool: pins and an undo of a $kind cause none, and stay when it is applied again",
        async (tool) => {
          const { kind } = tool;
          const name = `${kind.toLowerCase()}-${tool.index}`;
          const annotations = { "wave.pusher.com/pin-config": "true" };
          const object = workload(name, reads(name), { kind, annotations });
          Object.assign(object.metadata, { namespace: ns });
          const synced = async () => expect(await differs(cluster, tool, object)).toBe("in sync");
          await scene.namespace.configMap(name, { a: "1" });
          await apply(tool.apply, object);
          const first = await newHash(cluster, ns, kind, name);
          const pins = await pinned(kind, name);
          expect(pins).toMatch(new RegExp(`^${name}=${name}-[0-9a-f]{10}$`));
          await rolledOut(scene, kind, name);
          await synced();

          await scene.namespace.edit("ConfigMap", name, { a: "2" });
          const second = await newHash(cluster, ns, kind, name, first);
          expect(await pinned(kind, name)).not.toBe(pins);
          await rolledOut(scene, kind, name);
          await synced();

          await cluster.kubectl(["-n", ns, "rollout", "undo", `${kind.toLowerCase()}/${name}`]);
          await scene.caughtUp();
          expect(await pinned(kind, name)).toBe(pins);
          await synced();

          const undone = await recordedHash(cluster, ns, kind, name);
          expect(undone).not.toBe(second);
          const made = await settledRevisions(cluster, ns, kind, name);
          await apply(tool.apply, object);
          await scene.caughtUp();
          expect([await recordedHash(cluster, ns, kind, name), await pinned(kind, name)]).toEqual([undone, pins]);
          await revisionsToBe(cluster, ns, kind, name, made);
          await synced();
        },
      );
    });
  });
});
