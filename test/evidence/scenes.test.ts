import { execFile } from "node:child_process";
import { expect, it } from "vitest";
import { reads, rolledOut, type Scene, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, wave as waveCommand } from "../control-plane/wave-process.ts";
import { makeNamespace, optIn, workload, workloadPath } from "../end-to-end/objects.ts";
import { newHash, recordedHash, settledRevisions, waveEvents } from "../end-to-end/state.ts";

const container = { name: "app", image: "nginx" };
const secretEnv = (name: string) => ({ containers: [{ ...container, envFrom: [{ secretRef: { name } }] }] });
/** Short enough for a test, long enough for the requests of one apply. */
const args = ["--settle=3s"];

describeOnControlPlane("what Pods read follows from the time at which they were scheduled", (cluster) => {
  const place = (ns: string) => ({ cluster, namespace: { name: ns } }) as Scene;
  const merge = (ns: string, name: string, patch: unknown) =>
    cluster.api("PATCH", workloadPath(ns, "Deployment", name), patch, "application/merge-patch+json");
  const revisionsOf = (ns: string, name: string) => settledRevisions(cluster, ns, "Deployment", name);
  const recorded = (ns: string, name: string, before?: string) => newHash(cluster, ns, "Deployment", name, before);

  /** Runs a command of Wave. Resolves to its output and exit code. */
  function command(ns: string, ...words: readonly string[]): Promise<{ readonly out: string; readonly code: number }> {
    const all = [...words, "-n", ns, "--kubeconfig", cluster.kubeconfig];
    return new Promise((resolve) =>
      execFile(waveCommand, all, (error, out, errors) =>
        resolve({ out: out + errors, code: Number(error?.code ?? 0) }),
      ),
    );
  }

  /** Waits until the times of the API are later than all of those before. */
  async function nextSecond(): Promise<number> {
    const second = Math.floor(Date.now() / 1000);
    return until("the next second", async () => {
      const now = Math.floor(Date.now() / 1000);
      return now > second ? now : undefined;
    });
  }

  /** Returns when the running Pods of a workload were created, in milliseconds since the epoch. */
  async function createdAt(ns: string, name: string): Promise<readonly number[]> {
    const pods = await cluster.list(`/api/v1/namespaces/${ns}/pods?labelSelector=app=${name}`);
    return pods
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => Date.parse((metadata as { readonly creationTimestamp?: string }).creationTimestamp ?? ""));
  }

  it("one apply of a ConfigMap, a Secret and a Deployment starts its Pods once, and so does one with a new image", async () => {
    const ns = "evidence-apply";
    const scene = await startScene(cluster, ns, { webhooks: false, args });
    try {
      const envFrom = [{ configMapRef: { name: "page" } }, { secretRef: { name: "login" } }];
      await scene.namespace.configMap("page", { page: "first" });
      await scene.namespace.secret("login", { password: "first" });
      await scene.namespace.create(workload("web", { containers: [{ ...container, envFrom }] }));
      const first = await recorded(ns, "web");
      await rolledOut(scene, "Deployment", "web");
      expect(await revisionsOf(ns, "web")).toBe(1);

      await nextSecond();
      await scene.namespace.edit("ConfigMap", "page", { page: "second" });
      await merge(ns, "web", {
        spec: { template: { spec: { containers: [{ ...container, image: "other", envFrom }] } } },
      });
      await recorded(ns, "web", first);
      await rolledOut(scene, "Deployment", "web");
      expect(await revisionsOf(ns, "web")).toBe(2);
      expect((await command(ns, "wait", "deployment/web", "--timeout=60s")).code).toBe(0);

      // The next edit alone rolls.
      const second = await recordedHash(cluster, ns, "Deployment", "web");
      await nextSecond();
      await scene.namespace.edit("Secret", "login", { password: "second" });
      await recorded(ns, "web", second);
      expect(await revisionsOf(ns, "web")).toBe(3);
    } finally {
      await scene.wave.stop();
    }
  });

  it("Pods that wait for a required Secret are not replaced when it is created", async () => {
    const ns = "evidence-awaited";
    const scene = await startScene(cluster, ns, { webhooks: false, args });
    try {
      await scene.caughtUp();
      // The margin between the clocks of API servers.
      const since = Date.now();
      await until("Pods of a time at which Wave has known the absence", () =>
        Promise.resolve(Date.now() - since > 8_000 ? true : undefined),
      );
      await scene.namespace.create(workload("web", secretEnv("login")));
      await until("a Pod with a node", async () => ((await createdAt(ns, "web")).length > 0 ? true : undefined));
      await nextSecond();
      await scene.namespace.secret("login", { password: "first" });
      const first = await recorded(ns, "web");
      await scene.caughtUp();
      expect(await revisionsOf(ns, "web")).toBe(1);

      await nextSecond();
      await scene.namespace.edit("Secret", "login", { password: "second" });
      await recorded(ns, "web", first);
      expect(await revisionsOf(ns, "web")).toBe(2);
    } finally {
      await scene.wave.stop();
    }
  });

  it("a workload opts in without a restart if its Pods are newer than the last edit, and is unproven if they are older", async () => {
    const ns = "evidence-opt-in";
    const scene = await startScene(cluster, ns, { webhooks: false, args });
    try {
      const optedOut = { annotations: { "wave.pusher.com/update-on-config-change": "false" } };
      for (const name of ["newer", "older"]) await scene.namespace.configMap(name, { page: "first" });
      await nextSecond();
      for (const name of ["newer", "older"]) {
        await scene.namespace.create(workload(name, reads(name), optedOut));
        await rolledOut(scene, "Deployment", name);
      }
      await nextSecond();
      await scene.namespace.edit("ConfigMap", "older", { page: "second" });

      await merge(ns, "newer", { metadata: { annotations: optIn } });
      await recorded(ns, "newer");
      await scene.caughtUp();
      expect(await revisionsOf(ns, "newer")).toBe(1);
      expect((await command(ns, "wait", "deployment/newer", "--timeout=60s")).code).toBe(0);

      const annotations = { ...optIn, "wave.pusher.com/first-sight": "record" };
      await merge(ns, "older", { metadata: { annotations } });
      await recorded(ns, "older");
      const { type, message } = await until("Warning ConfigUnproven", async () =>
        (await waveEvents(cluster, ns, "older")).find(({ reason }) => reason === "ConfigUnproven"),
      );
      expect([type, message]).toEqual([
        "Warning",
        expect.stringMatching(/changed at .+Z, .+scheduled at .+Z\. .+: wave roll/),
      ]);
      expect((await command(ns, "list")).out).toMatch(/deployment\/older +unproven/);
      const waited = await command(ns, "wait", "deployment/older", "--timeout=60s");
      expect([waited.code, waited.out]).toEqual([1, expect.stringContaining("wave roll deployment/older")]);
      expect(await revisionsOf(ns, "older")).toBe(1);

      await command(ns, "roll", "deployment/older");
      await until("Pods that are proven", async () => {
        const { out } = await command(ns, "list");
        return /deployment\/older +current/.test(out) ? true : undefined;
      });
      expect(await revisionsOf(ns, "older")).toBe(2);
    } finally {
      await scene.wave.stop();
    }
  });

  it("a workload opts in without a restart if its Pods got their node after the last edit, or have none yet", async () => {
    const ns = "evidence-scheduled";
    const scene = await startScene(cluster, ns, { webhooks: false, args });
    try {
      await scene.namespace.configMap("page", { page: "first" });
      const optedOut = { annotations: { "wave.pusher.com/update-on-config-change": "false" } };
      for (const name of ["late", "pending"]) {
        const nodeSelector = { [`example.com/${name}`]: "true" };
        await scene.namespace.create(workload(name, { ...reads("page"), nodeSelector }, optedOut));
        await until("its Pod", async () => ((await createdAt(ns, name)).length > 0 ? true : undefined));
      }
      await nextSecond();
      await scene.namespace.edit("ConfigMap", "page", { page: "second" });
      await nextSecond();
      const [node] = await cluster.list("/api/v1/nodes");
      const label = (name: string) =>
        cluster.api(
          "PATCH",
          `/api/v1/nodes/${node?.metadata.name}`,
          { metadata: { labels: { [`example.com/${name}`]: "true" } } },
          "application/merge-patch+json",
        );
      await label("late");
      await rolledOut(scene, "Deployment", "late");
      for (const name of ["late", "pending"]) {
        await merge(ns, name, { metadata: { annotations: optIn } });
        await recorded(ns, name);
      }
      await label("pending");
      await rolledOut(scene, "Deployment", "pending");
      for (const name of ["late", "pending"]) {
        expect(await revisionsOf(ns, name)).toBe(1);
        expect((await command(ns, "wait", `deployment/${name}`, "--timeout=60s")).code).toBe(0);
      }
    } finally {
      await scene.wave.stop();
    }
  });

  it("a workload that reads an optional Secret, which has not existed since before its Pods, opts in without a restart", async () => {
    const ns = "evidence-optional";
    const scene = await startScene(cluster, ns, { webhooks: false, args });
    try {
      const since = Date.now();
      // The margin of clocks.
      await until("Pods that are surely newer", async () => Date.now() > since + 10_000 || undefined);
      const envFrom = [{ secretRef: { name: "login", optional: true } }];
      await scene.namespace.create(workload("web", { containers: [{ ...container, envFrom }] }));
      const first = await recorded(ns, "web");
      await rolledOut(scene, "Deployment", "web");
      expect(await revisionsOf(ns, "web")).toBe(1);
      expect((await command(ns, "wait", "deployment/web", "--timeout=60s")).code).toBe(0);

      await scene.namespace.secret("login", { password: "first" });
      await recorded(ns, "web", first);
      expect(await revisionsOf(ns, "web")).toBe(2);
    } finally {
      await scene.wave.stop();
    }
  });

  it("a Deployment that Reloader has just rolled is taken over without a restart, and an operator that puts the template back once keeps no old Pods", async () => {
    const ns = "evidence-reloader";
    const namespace = await makeNamespace(cluster, ns);
    const annotations = { "reloader.stakater.com/auto": "true", "wave.pusher.com/update-on-config-change": null };
    await namespace.secret("login", { password: "first" });
    const replicas = { spec: { replicas: 2 } };
    await namespace.create(workload("web", secretEnv("login"), { annotations: {}, ...replicas }));
    await merge(ns, "web", { metadata: { annotations } });
    await rolledOut(place(ns), "Deployment", "web");
    await namespace.edit("Secret", "login", { password: "second" });
    await nextSecond();
    const env = [{ name: "STAKATER_LOGIN_SECRET", value: "1" }];
    const containers = [{ ...secretEnv("login").containers[0], env }];
    await merge(ns, "web", { spec: { template: { spec: { containers } } } });
    await rolledOut(place(ns), "Deployment", "web");

    const flags = ["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`, "--compatibility=stakater"];
    const wave = await startWave(flags);
    try {
      const before = await recorded(ns, "web");
      expect(await revisionsOf(ns, "web")).toBe(2);
      expect((await command(ns, "list", "--compatibility=stakater")).out).toMatch(/deployment\/web +current/);

      const editedAt = (await nextSecond()) * 1000;
      await namespace.edit("Secret", "login", { password: "third" });
      await recorded(ns, "web", before);
      const reverted = { metadata: { annotations: { "wave.pusher.com/config-hash": null } } };
      await merge(ns, "web", { spec: { template: reverted } });
      // The Pods before were created in an earlier second than that of the edit.
      await until("Pods that are newer than the edit", async () => {
        const created = await createdAt(ns, "web");
        return created.length === 2 && created.every((at) => at >= editedAt) ? true : undefined;
      });
      await until("current", async () => {
        const { out } = await command(ns, "list", "--compatibility=stakater");
        return /deployment\/web +current/.test(out) ? true : undefined;
      });
    } finally {
      await wave.stop();
    }
  });
});
