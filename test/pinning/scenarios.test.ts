import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { rolledOut, type Scene, startScene } from "../admission/admitted.ts";
import type { Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { kindNames, type WorkloadKind, workloadPath } from "../end-to-end/objects.ts";
import { newHash, recordedHash, waveEvents } from "../end-to-end/state.ts";
import { pointsPods } from "./pointed.ts";
import {
  annotate,
  applyPointingPolicy,
  createPinned,
  pagesOfNewPods,
  pagesOfReplacedPods,
  pagesRead,
  podUids,
  readsPages,
} from "./scenarios.ts";

const hold = "wave.pusher.com/hold";

const args = ["--pin-config"];

describeOnControlPlane("pinned configuration", (cluster) => {
  // On Kubernetes 1.36 the policy points Pods. On older versions only the webhook does.
  describeScenarios(cluster, "pinned", kindNames, { policy: true, webhooks: true });
  describeScenarios(cluster, "pinned-by-webhook", ["Deployment"], { policy: false, webhooks: true });
  const others = inject("everything") ? kindNames : (["Deployment"] as const);
  describeScenarios(cluster, "pinned-by-controller", others, { policy: true, webhooks: false });

  it("stays while Wave does not run", async () => {
    const [ns, name] = ["pinned-stopped", "web"];
    const scene = await startScene(cluster, ns, { webhooks: true, args });
    await applyPointingPolicy(cluster, ns);
    await createPinned(scene, "Deployment", name);
    await scene.wave.stop();
    await pointsPods(cluster, ns);
    await scene.namespace.edit("ConfigMap", name, { page: "new" });
    expect(await pagesOfReplacedPods(scene, name)).toEqual(["old"]);
  });
});

function describeScenarios(
  cluster: Cluster,
  ns: string,
  kinds: readonly WorkloadKind[],
  { policy, webhooks }: { readonly policy: boolean; readonly webhooks: boolean },
): void {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(cluster, ns, { webhooks, args });
    if (policy) await applyPointingPolicy(cluster, ns);
    await pointsPods(cluster, ns);
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });

  describe.for(kinds)(`of a %s in namespace ${ns}`, (kind) => {
    const start = async (name: string) => {
      const app = `${name}-${kind.toLowerCase()}`;
      const resource = `${kind.toLowerCase()}/${app}`;
      await createPinned(scene, kind, app);
      expect(await pagesRead(scene, app)).toEqual(["old"]);
      const hash = () => recordedHash(cluster, ns, kind, app);
      return {
        app,
        hash,
        edit: (page: string) => scene.namespace.edit("ConfigMap", app, { page }),
        event: (reason: string) =>
          until(`Event ${reason}`, async () =>
            (await waveEvents(cluster, ns, app)).find((each) => each.reason === reason),
          ),
        kubectl: (...args: string[]) => cluster.kubectl(["-n", ns, ...args]),
        undo: async (...more: string[]) => {
          await cluster.kubectl(["-n", ns, "rollout", "undo", resource, ...more]);
          await rolledOut(scene, kind, app);
        },
        replaced: () => pagesOfReplacedPods(scene, app),
        /** Waits for the rollout after the hash `before`. */
        rolled: async (before: string | undefined) => {
          await newHash(cluster, ns, kind, app, before);
          await rolledOut(scene, kind, app);
        },
        annotate: (annotations: Record<string, string | null>) => annotate(scene, kind, app, annotations),
        merge: (patch: unknown) => scene.namespace.merge(workloadPath(ns, kind, app), patch),
      };
    };

    it("stays while the workload has a hold, and changes after its release", async () => {
      const { app, annotate, edit, event, hash, replaced, rolled } = await start("hold");
      const before = await hash();
      await annotate({ [hold]: "true" });
      await edit("new");
      await event("RolloutHeld");
      expect(await pagesRead(scene, app)).toEqual(["old"]);
      expect(await replaced()).toEqual(["old"]);
      expect(await hash()).toBe(before);
      await annotate({ [hold]: null });
      await rolled(before);
      expect(await pagesRead(scene, app)).toEqual(["new"]);
    });

    it("stays while the ConfigMap has a hold", async () => {
      const { app, edit, event, replaced } = await start("held-config");
      await scene.namespace.merge(`/api/v1/namespaces/${ns}/configmaps/${app}`, {
        metadata: { annotations: { [hold]: "true" } },
      });
      await edit("new");
      await event("RolloutHeld");
      expect(await replaced()).toEqual(["old"]);
    });

    it("stays until the change is approved", async () => {
      const { annotate, edit, event, replaced } = await start("approve");
      await annotate({ "wave.pusher.com/mode": "approve" });
      await edit("new");
      await event("RolloutHeld");
      expect(await replaced()).toEqual(["old"]);
    });

    it("stays when a new image is rolled under a hold", async () => {
      const { app, annotate, edit, event, merge } = await start("image");
      await annotate({ [hold]: "true" });
      await edit("new");
      await event("RolloutHeld");
      const before = await podUids(scene, app);
      await merge({ spec: { template: { spec: readsPages([app], "nginx:2") } } });
      await rolledOut(scene, kind, app);
      expect(await pagesOfNewPods(scene, app, before)).toEqual(["old"]);
    });

    it("stays when the ConfigMap is deleted under a hold", async () => {
      const { app, annotate, replaced } = await start("deleted");
      await annotate({ [hold]: "true" });
      await scene.namespace.remove("ConfigMap", app);
      await scene.caughtUp();
      expect(await replaced()).toEqual(["old"]);
    });

    it("returns with kubectl rollout undo, stays, and changes after the next edit", async () => {
      const { app, edit, hash, replaced, rolled, undo } = await start("undo");
      const first = await hash();
      await edit("new");
      await rolled(first);
      const second = await hash();
      await undo();
      expect(await pagesRead(scene, app)).toEqual(["old"]);
      const undone = await hash();
      expect(undone).not.toBe(second);
      await scene.caughtUp();
      expect(await hash()).toBe(undone);
      expect(await replaced()).toEqual(["old"]);
      await edit("newer");
      await rolled(undone);
      expect(await pagesRead(scene, app)).toEqual(["newer"]);
    });

    it("returns to an older revision with kubectl rollout undo --to-revision, and stays", async () => {
      const { app, edit, hash, replaced, rolled, undo } = await start("revision");
      const history = await cluster.kubectl(["-n", ns, "rollout", "history", `${kind.toLowerCase()}/${app}`]);
      const revision = /^(\d+) /m.exec(history.trimEnd().split("\n").at(-1) ?? "")?.[1];
      const first = await hash();
      await edit("new");
      await rolled(first);
      const second = await hash();
      await edit("newest");
      await rolled(second);
      await undo(`--to-revision=${revision}`);
      expect(await hash()).toBe(first);
      expect(await pagesRead(scene, app)).toEqual(["old"]);
      await scene.caughtUp();
      expect(await replaced()).toEqual(["old"]);
      await edit("newer");
      await rolled(first);
      expect(await pagesRead(scene, app)).toEqual(["newer"]);
    });
  });
}
