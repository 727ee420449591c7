import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import type { WaveProcess } from "../control-plane/wave-process.ts";
import {
  container,
  makeNamespace,
  type Namespace,
  workload,
  workloadKinds,
  workloadPath,
} from "../end-to-end/objects.ts";
import { revisionsToBe, settledRevisions } from "../end-to-end/state.ts";
import { startFor } from "../migration/migrated.ts";
import { finalizer, ownedIn } from "./owned.ts";

const envFrom = (...names: readonly string[]) => names.map((name) => ({ configMapRef: { name } }));
const reads = (...names: readonly string[]) => ({ containers: [{ ...container, envFrom: envFrom(...names) }] });

describeOnControlPlane("Wave with --owner-references", (cluster) => {
  const start = async (ns: string, ...flags: readonly string[]): Promise<WaveProcess> => {
    const wave = await startFor(cluster, ns, ...flags);
    onTestFinished(async () => void (await wave.stop("SIGKILL")));
    return wave;
  };
  const keep = (ns: string) => start(ns, "--owner-references");

  describe("follows the pod templates", () => {
    const ns = "owned-kept";
    const { untilOwned, untilFinalizers, owners, own, workload: get } = ownedIn(cluster, ns);
    let namespace: Namespace;
    beforeAll(async () => {
      namespace = await makeNamespace(cluster, ns);
      for (const name of ["settings", "other", "unread"]) await namespace.configMap(name, { a: "1" });
      await namespace.secret("login", { password: "pass" });
    });

    it("sets them only on what each kind references, and removes them with the reference or the opt-in", async () => {
      const podSpec = {
        containers: [{ ...container, envFrom: [...envFrom("settings"), { secretRef: { name: "login" } }] }],
      };
      for (const { kind } of workloadKinds) await namespace.create(workload("web", podSpec, { kind }));
      const all = [...workloadKinds.map(({ kind }) => `${kind}/web`), `Namespace/${ns}`];
      const wave = await keep(ns);
      await untilOwned("configmaps/settings", ...all);
      await untilOwned("secrets/login", ...all);
      for (const { kind } of workloadKinds) await untilFinalizers(kind, "web", finalizer);
      expect(await owners("configmaps/unread")).toEqual([]);
      const uid = (await get("Deployment", "web"))?.metadata.uid;
      expect(await owners("secrets/login")).toContainEqual({
        apiVersion: "apps/v1",
        kind: "Deployment",
        name: "web",
        uid,
        controller: false,
        blockOwnerDeletion: false,
      });

      const path = workloadPath(ns, "Deployment", "web");
      await namespace.merge(path, { spec: { template: { spec: reads("other") } } });
      await untilOwned("configmaps/other", "Deployment/web", `Namespace/${ns}`);
      const others = all.filter((owner) => owner !== "Deployment/web");
      await untilOwned("configmaps/settings", ...others);
      await untilOwned("secrets/login", ...others);

      const optedOut = { metadata: { annotations: { "wave.pusher.com/update-on-config-change": "false" } } };
      for (const { kind } of workloadKinds) await namespace.merge(workloadPath(ns, kind, "web"), optedOut);
      for (const name of ["configmaps/settings", "configmaps/other", "secrets/login"]) await untilOwned(name);
      for (const { kind } of workloadKinds) await untilFinalizers(kind, "web");
      expect(wave.log()).not.toContain("pass");
    });

    it("sets them on an object that is created later, and not on a controlled object", async () => {
      const late = workload("late", reads("made-later", "controlled"));
      await namespace.configMap("controlled", { a: "1" });
      const controller = { apiVersion: "v1", kind: "ConfigMap", name: "other", controller: true };
      const { metadata } = await cluster.api("GET", `/api/v1/namespaces/${ns}/configmaps/other`);
      await own("configmaps/controlled", [{ ...controller, uid: metadata.uid }]);
      await namespace.create(late);
      await keep(ns);
      await untilFinalizers("Deployment", "late", finalizer);
      await namespace.configMap("made-later", { a: "1" });
      await untilOwned("configmaps/made-later", "Deployment/late", `Namespace/${ns}`);
      await untilOwned("configmaps/controlled", "ConfigMap/other");
    });
  });

  const policies = ["Foreground", "Background", "Orphan"] as const;
  for (const propagation of policies) {
    describe(`a deletion in the manner of ${propagation}`, () => {
      const ns = `owned-${propagation.toLowerCase()}`;
      const { untilOwned, untilFinalizers, untilGone, witness, delete: remove, owned } = ownedIn(cluster, ns);
      let namespace: Namespace;
      beforeAll(async () => {
        namespace = await makeNamespace(cluster, ns);
        for (const name of ["up", "down", "both"]) await namespace.configMap(name, { a: "1" });
        for (const name of ["up", "down"]) await namespace.create(workload(name, reads(name, "both")));
      });

      it("leaves all configuration in place, whether Wave runs or comes back later", async () => {
        const first = await keep(ns);
        for (const name of ["up", "down"]) {
          await untilOwned(`configmaps/${name}`, `Deployment/${name}`, `Namespace/${ns}`);
          await untilFinalizers("Deployment", name, finalizer);
        }
        await untilOwned("configmaps/both", "Deployment/down", "Deployment/up", `Namespace/${ns}`);
        const collected = propagation === "Orphan" ? undefined : await witness("Deployment", "up");
        await remove("Deployment", "up", propagation);
        await untilGone("Deployment", "up");
        await collected?.();
        await untilOwned("configmaps/up");
        await untilOwned("configmaps/both", "Deployment/down", `Namespace/${ns}`);

        expect(await first.stop()).toBe(0);
        const collectedLater = propagation === "Orphan" ? undefined : await witness("Deployment", "down");
        await remove("Deployment", "down", propagation);
        // A foreground deletion deletes its dependents at once, with or without a finalizer.
        if (propagation === "Foreground") await collectedLater?.();
        expect(await owned("configmaps/down")).toBeDefined();
        await keep(ns);
        await untilGone("Deployment", "down");
        await collectedLater?.();
        for (const name of ["up", "down", "both"]) await untilOwned(`configmaps/${name}`);
      });
    });
  }

  describe("after Wave was killed", () => {
    const ns = "owned-killed";
    const { untilOwned, untilFinalizers, untilGone, owned, delete: remove } = ownedIn(cluster, ns);

    it("continues with adding and with removing", async () => {
      const namespace = await makeNamespace(cluster, ns);
      const names = Array.from({ length: 40 }, (_, index) => `part-${index}`);
      for (const name of names) await namespace.configMap(name, { a: "1" });
      await namespace.create(workload("web", reads(...names)));
      const slow = ["--owner-references", "--update-rate=20", "--update-burst=1"];
      const count = async () =>
        (await Promise.all(names.map((name) => owned(`configmaps/${name}`)))).filter((all) =>
          all?.includes("Deployment/web"),
        ).length;
      const killedOnceSome = async (is: (owned: number) => boolean) => {
        const wave = await start(ns, ...slow);
        for (;;) if (is(await count())) break;
        await wave.stop("SIGKILL");
      };
      await killedOnceSome((owned) => owned > 0);
      expect(await count()).toBeLessThan(names.length);
      const second = await keep(ns);
      for (const name of names) await untilOwned(`configmaps/${name}`, "Deployment/web", `Namespace/${ns}`);
      await untilFinalizers("Deployment", "web", finalizer);
      expect(await second.stop()).toBe(0);

      await remove("Deployment", "web", "Background");
      await killedOnceSome((owned) => owned < names.length);
      expect(await count()).toBeGreaterThan(0);
      await untilFinalizers("Deployment", "web", finalizer);
      await keep(ns);
      await untilGone("Deployment", "web");
      for (const name of names) await untilOwned(`configmaps/${name}`);
    });
  });

  it("leaves nothing behind and restarts nothing when --migrate-legacy turns the feature off", async () => {
    const ns = "owned-off";
    const { untilOwned, untilFinalizers } = ownedIn(cluster, ns);
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("settings", { a: "1" });
    await namespace.create(workload("web", reads("settings")));
    const first = await keep(ns);
    await untilOwned("configmaps/settings", "Deployment/web", `Namespace/${ns}`);
    await untilFinalizers("Deployment", "web", finalizer);
    expect(await first.stop()).toBe(0);
    const before = await settledRevisions(cluster, ns, "Deployment", "web");
    const second = await start(ns, "--migrate-legacy");
    await untilOwned("configmaps/settings");
    await untilFinalizers("Deployment", "web");
    expect(await second.stop()).toBe(0);
    await revisionsToBe(cluster, ns, "Deployment", "web", before);
  });
});
