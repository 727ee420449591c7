import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rolledOut, type Scene, startScene } from "../admission/admitted.ts";
import type { Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, kindNames, type WorkloadKind } from "../end-to-end/objects.ts";
import { type EventState, newHash, recordedHash, waveEvents } from "../end-to-end/state.ts";
import { pointsPods } from "./pointed.ts";
import {
  annotate,
  applyPointingPolicy,
  configMapsOfPods,
  createPinned,
  imagesOf,
  pagesOfReplacedPods,
  pagesRead,
  readsPages,
} from "./scenarios.ts";

describeOnControlPlane("a pinned workload with an undo or a new image", (cluster) => {
  describeUndo(cluster, "undone", kindNames, { policy: true, webhooks: true });
  describeUndo(cluster, "undone-by-webhook", ["Deployment"], { policy: false, webhooks: true });
  describeUndo(cluster, "undone-by-controller", kindNames, { policy: true, webhooks: false });
});

function describeUndo(
  cluster: Cluster,
  ns: string,
  kinds: readonly WorkloadKind[],
  { policy, webhooks }: { readonly policy: boolean; readonly webhooks: boolean },
): void {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(cluster, ns, { webhooks, args: ["--pin-config"] });
    if (policy) await applyPointingPolicy(cluster, ns);
    await pointsPods(cluster, ns);
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });

  describe.concurrent.for(kinds)(`of a %s in namespace ${ns}`, (kind) => {
    const appOf = (name: string) => `${name}-${kind.toLowerCase()}`;
    const hashOf = (app: string) => recordedHash(cluster, ns, kind, app);
    const kubectl = (...args: string[]) => cluster.kubectl(["-n", ns, ...args]);
    const resource = (app: string) => `${kind.toLowerCase()}/${app}`;
    const edit = async (app: string, object: "ConfigMap" | "Secret", data: Record<string, string>) => {
      const before = await hashOf(app);
      await scene.namespace.edit(object, app, data);
      await newHash(cluster, ns, kind, app, before);
      await rolledOut(scene, kind, app);
    };
    const event = (app: string, isWanted: (event: EventState) => boolean) =>
      until(`an Event of ${app}`, async () => (await waveEvents(cluster, ns, app)).find(isWanted));
    const pageIs = (app: string, page: string) =>
      until(`page ${page} of ${app}`, async () => ((await pagesRead(scene, app)).join() === page ? true : undefined));

    it("rolls to the earlier ConfigMap with the live Secret, if a Secret changed since the revision of an undo", async () => {
      const app = appOf("secret");
      await scene.namespace.secret(app, { token: "first" });
      const podSpec = readsPages([app]);
      const secret = { name: "token", secret: { secretName: app } };
      await createPinned(scene, kind, app, { ...podSpec, volumes: [...podSpec.volumes, secret] });
      const first = await hashOf(app);
      const history = await kubectl("rollout", "history", resource(app));
      const revision = /^(\d+) /m.exec(history.trimEnd().split("\n").at(-1) ?? "")?.[1];
      await edit(app, "ConfigMap", { page: "new" });
      await edit(app, "Secret", { token: "second" });
      const last = await hashOf(app);
      await kubectl("rollout", "undo", resource(app), `--to-revision=${revision}`);
      const undone = await until(`a hash of ${app} with the live Secret`, async () => {
        const hash = await hashOf(app);
        return hash === first || hash === last ? undefined : hash;
      });
      await rolledOut(scene, kind, app);
      await event(app, ({ reason }) => reason === "RolledBack");
      // With webhooks, the hash of the live Secret is in the template of the undo already.
      if (!webhooks) {
        const isStart = ({ reason, message }: EventState) =>
          reason === "ConfigChanged" && message.includes("a rollback does not restore");
        const { message } = await event(app, isStart);
        expect(message).toMatch(new RegExp(`a rollback does not restore Secret "${app}"\\.$`));
      }
      await scene.caughtUp();
      expect(await hashOf(app)).toBe(undone);
      await pageIs(app, "old");
    });

    it("reads live configuration, with a Warning, if the copy of the revision of an undo is gone", async () => {
      const app = appOf("collected");
      await createPinned(scene, kind, app);
      const [copy = ""] = [...(await configMapsOfPods(scene, app)).values()].flat();
      await edit(app, "ConfigMap", { page: "new" });
      await scene.namespace.remove("ConfigMap", copy);
      await scene.caughtUp();
      const output = await kubectl("rollout", "undo", resource(app));
      const warning = `New Pods read live configuration of ConfigMap "${app}". Its pinned copy is gone`;
      if (webhooks) expect(output).toContain(`Warning: ${warning}`);
      else {
        const { type } = await event(
          app,
          ({ reason, message }) => reason === "Unpinned" && message.startsWith(warning),
        );
        expect(type).toBe("Warning");
      }
      await pageIs(app, "new");
      await rolledOut(scene, kind, app);
      await scene.caughtUp();
      expect(await pagesOfReplacedPods(scene, app)).toEqual(["new"]);
    });

    it("stays undone if the earlier pod template reads more keys", async () => {
      const app = appOf("fewer");
      await createPinned(scene, kind, app);
      await edit(app, "ConfigMap", { page: "old", other: "read by the first template" });
      const history = await kubectl("rollout", "history", resource(app));
      const revision = /^(\d+) /m.exec(history.trimEnd().split("\n").at(-1) ?? "")?.[1];
      const before = await hashOf(app);
      const volumes = [{ name: app, configMap: { name: app, items: [{ key: "page", path: "page" }] } }];
      const spec = { containers: [{ ...container, volumeMounts: [{ name: app, mountPath: "/page" }] }], volumes };
      const template = [{ op: "replace", path: "/spec/template/spec", value: spec }];
      await kubectl("patch", resource(app), "--type=json", `--patch=${JSON.stringify(template)}`);
      await newHash(cluster, ns, kind, app, before);
      await rolledOut(scene, kind, app);
      await edit(app, "ConfigMap", { page: "new", other: "read by the first template" });
      await kubectl("rollout", "undo", resource(app), `--to-revision=${revision}`);
      await event(app, ({ reason }) => reason === "RolledBack");
      await rolledOut(scene, kind, app);
      await scene.caughtUp();
      expect(await pagesOfReplacedPods(scene, app)).toEqual(["old"]);
      expect(await hashOf(app)).toBe(before);
    });

    it("reads its copies after a new image in mode observe", async () => {
      const app = appOf("observed");
      await createPinned(scene, kind, app);
      await annotate(scene, kind, app, { "wave.pusher.com/mode": "observe" });
      await scene.namespace.edit("ConfigMap", app, { page: "new" });
      await event(app, ({ reason }) => reason === "RolloutHeld");
      await kubectl("set", "image", resource(app), "app=nginx:2");
      await rolledOut(scene, kind, app);
      expect(await imagesOf(scene, app)).toEqual(["nginx:2"]);
      expect(await pagesRead(scene, app)).toEqual(["old"]);
      await scene.caughtUp();
      expect(await pagesOfReplacedPods(scene, app)).toEqual(["old"]);
      const held = await hashOf(app);
      await annotate(scene, kind, app, { "wave.pusher.com/mode": null });
      await newHash(cluster, ns, kind, app, held);
      await rolledOut(scene, kind, app);
      await pageIs(app, "new");
    });
  });
}
