import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess, wave as waveCommand } from "../control-plane/wave-process.ts";
import { container, makeNamespace, type Namespace, workload } from "../end-to-end/objects.ts";
import {
  firstTemplateHash,
  getWorkload,
  newHash,
  recordedHash,
  settledRevisions,
  templateHash,
  waveEvents,
} from "../end-to-end/state.ts";
import { Driver, installDriver, removeDriver, volumeOf } from "./driver.ts";

const ns = "csi";
const replicas = 5;
const noted = "wave.pusher.com/secret-provider-classes";
const envFrom = [{ configMapRef: { name: "app" } }];

describeOnControlPlane("a workload that mounts a SecretProviderClass", (cluster) => {
  const driver = new Driver(cluster, ns);
  let namespace: Namespace;
  let wave: WaveProcess;
  const start = async () => {
    wave = await startWave([
      "--kubeconfig",
      cluster.kubeconfig,
      `--namespaces=${ns}`,
      "--enable-csi-integration",
      "--compatibility=wave,stakater",
    ]);
  };
  const notedOn = async (name: string) =>
    (await getWorkload(cluster, ns, "Deployment", name)).metadata.annotations?.[noted];
  const hashOf = (name: string) => recordedHash(cluster, ns, "Deployment", name);
  const writtenOn = (name: string) => templateHash(cluster, ns, "Deployment", name);
  const scale = (name: string, count: number) =>
    namespace.merge(`/apis/apps/v1/namespaces/${ns}/deployments/${name}`, { spec: { replicas: count } });

  /** Waits for all Pods of the newest template, and lets each mount the version that `versionOf` returns. */
  const mounted = async (versionOf: (index: number) => string) => {
    const hash = await writtenOn("web");
    const pods = await until("Pods with the newest hash", async () => {
      const all = await driver.pods("web", replicas);
      return all.every(({ metadata }) => metadata.annotations?.["wave.pusher.com/config-hash"] === hash)
        ? all
        : undefined;
    });
    for (const [index, pod] of pods.entries()) await driver.publish(pod, "vault", { password: versionOf(index) });
    await driver.collect();
  };

  beforeAll(async () => {
    await removeDriver(cluster);
    namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("app", { a: "1" });
    const spec = { replicas, strategy: { type: "Recreate" } };
    const mounting = { containers: [{ ...container, envFrom }], volumes: [volumeOf("vault")] };
    await namespace.create(workload("web", mounting, { spec }));
    await namespace.create(
      workload(
        "theirs",
        { containers: [container], volumes: [volumeOf("vault")] },
        {
          annotations: {
            "wave.pusher.com/update-on-config-change": "false",
            "secretproviderclass.reloader.stakater.com/auto": "true",
          },
        },
      ),
    );
    await start();
  });
  afterAll(async () => {
    await wave?.stop();
    await removeDriver(cluster);
  });

  it("has its hash if no driver is installed", async () => {
    await newHash(cluster, ns, "Deployment", "web");
    expect(await notedOn("web")).toBeUndefined();
  });

  it("is not rolled when the driver is installed later and reports what the Pods mounted", async () => {
    await installDriver(cluster);
    const before = [await writtenOn("web"), await settledRevisions(cluster, ns, "Deployment", "web")];
    await mounted(() => "1");
    await until("the note", () => notedOn("web"), 150_000);
    expect(await notedOn("web")).toMatch(/^vault \d+ [0-9a-f]{64}$/);
    expect([await writtenOn("web"), await settledRevisions(cluster, ns, "Deployment", "web")]).toEqual(before);
    await until("the note of Stakater's", () => notedOn("theirs"));
    expect(await writtenOn("theirs")).toBeUndefined();
  });

  describe("after a rotation", () => {
    let rolled: string | undefined;
    let count: number;

    it("is rolled once, regardless of how many Pods report the rotation", async () => {
      const before = await hashOf("web");
      count = await settledRevisions(cluster, ns, "Deployment", "web");
      for (const pod of await driver.pods("web", replicas)) {
        await driver.publish(pod, "vault", { password: "2" }).catch(() => {}); // The Pod may have been deleted.
      }
      rolled = await newHash(cluster, ns, "Deployment", "web", before);
      await firstTemplateHash(cluster, ns, "Deployment", "theirs");
      await mounted(() => "2");
      expect(await settledRevisions(cluster, ns, "Deployment", "web")).toBe(count + 1);
      const told = (await waveEvents(cluster, ns, "web")).filter(({ reason }) => reason === "ConfigChanged");
      expect(told.map(({ message, count: times }) => [message, times])).toEqual([
        ['Rollout started: SecretProviderClass "vault" was rotated.', 1],
      ]);
    });

    it("is not rolled for the versions that its new Pods fetched, each a different one", async () => {
      for (const pod of await driver.pods("web", replicas)) await cluster.api("DELETE", podPath(pod.metadata.name));
      await mounted((index) => `own ${index}`);
      await edited();
    });

    it("is not rolled when all Pods are deleted, Wave restarts, and the Pods are created again", async () => {
      await scale("web", 0);
      await driver.pods("web", 0);
      await driver.collect();
      await wave.stop("SIGKILL");
      await start();
      await edited();
      await scale("web", replicas);
      await mounted(() => "2");
      await edited();
    });

    it("is rolled once if the rotation happened while no Wave ran", async () => {
      await wave.stop();
      await mounted(() => "3");
      const before = await hashOf("web");
      await start();
      rolled = await newHash(cluster, ns, "Deployment", "web", before);
      await mounted(() => "3");
      expect(await settledRevisions(cluster, ns, "Deployment", "web")).toBe(count + 2);
      await edited();
    });

    it("has an explanation", async () => {
      const { stdout } = await promisify(execFile)(waveCommand, [
        ...["explain", "deployment/web", "-n", ns, "-o", "json", "--kubeconfig", cluster.kubeconfig],
        "--enable-csi-integration",
      ]);
      const { references, outcome } = JSON.parse(stdout);
      expect(outcome).toBe("current");
      expect(references).toContainEqual(
        expect.objectContaining({ kind: "SecretProviderClass", name: "vault", state: "present" }),
      );
    });

    /** Checks that Wave has processed all earlier writes and has not changed the workload. */
    async function edited() {
      const before = await hashOf("canary").catch(() => undefined);
      if (before === undefined)
        await namespace.create(workload("canary", { containers: [container], volumes: [volumeOf("canary")] }));
      const first = await newHash(cluster, ns, "Deployment", "canary", undefined);
      const [pod] = await driver.pods("canary", 1);
      if (pod === undefined) throw new Error("no Pod");
      const version = `${performance.now()}`;
      await driver.publish(pod, "canary", { a: "1" });
      await until("the note of the canary", () => notedOn("canary"));
      await driver.publish(pod, "canary", { a: version });
      await newHash(cluster, ns, "Deployment", "canary", first);
      expect(await hashOf("web")).toBe(rolled);
    }
  });

  function podPath(name: string): string {
    return `/api/v1/namespaces/${ns}/pods/${name}`;
  }
});
