import { readFileSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, connect } from "../control-plane/cluster.ts";
import { type ControlPlane, missingControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { startWave, type WaveProcess } from "../control-plane/wave-process.ts";
import { container, makeNamespace, type Namespace, workload } from "../end-to-end/objects.ts";
import { newHash } from "../end-to-end/state.ts";

/** The memory limit of the chart is 128 MiB. */
const limitMiB = 115;

/** The maximum resident memory. */
function peakMiB({ process: { pid } }: WaveProcess): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

const keys = (count: number, salt: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${salt}-${index}`, ""]));

const servers = [
  ["sends lists as streams", []],
  ["sends lists in pages", ["--feature-gates=WatchList=false"]],
] as const;

describe.skipIf(missingControlPlane() !== undefined).each(servers)(
  "a tenant with large objects, when the API server %s",
  (_, apiServerFlags) => {
    let plane: ControlPlane | undefined;
    let cluster: Cluster;
    let tenant: Namespace;
    let victim: Namespace;
    let wave: WaveProcess;

    beforeAll(async () => {
      plane = await startControlPlane({ workloads: false, apiServerFlags });
      cluster = connect(plane);
      tenant = await makeNamespace(cluster, "tenant");
      victim = await makeNamespace(cluster, "victim");
      for (let index = 0; index < 100; index++) await tenant.configMap(`large-${index}`, { a: "x".repeat(900_000) });
      await victim.configMap("app", { a: "1" });
      const envFrom = [{ configMapRef: { name: "app" } }];
      await victim.create(workload("app", { containers: [{ ...container, envFrom }] }));
      wave = await startWave([`--kubeconfig=${plane.kubeconfig}`]);
    });
    afterAll(async () => {
      await wave?.stop();
      cluster?.close();
      await plane?.stop();
    });

    /** Expects that Wave follows an edit of another client, and that its memory never exceeded the limit. */
    const unharmed = async () => {
      const before = await newHash(cluster, "victim", "Deployment", "app");
      await victim.edit("ConfigMap", "app", { a: String(Math.random()) });
      await newHash(cluster, "victim", "Deployment", "app", before);
      expect(peakMiB(wave)).toBeLessThan(limitMiB);
    };
    const replace = (data: Readonly<Record<string, string>>, managedFields?: readonly object[]) =>
      cluster.api("PUT", "/api/v1/namespaces/tenant/configmaps/large-0", {
        metadata: { name: "large-0", ...(managedFields && { managedFields }) },
        data,
      });

    it("uses no more memory for 100 objects of 900 kB that are listed and edited", async () => {
      for (let index = 0; index < 100; index++) {
        await tenant.edit("ConfigMap", `large-${index}`, { a: `${index}`.repeat(300_000) });
      }
      await unharmed();
    });

    it("uses no more memory for edits of 40,000 keys with their managed fields, or of 100,000 keys without", async () => {
      for (let edit = 0; edit < 12; edit++) await replace(keys(40_000, edit));
      for (let edit = 0; edit < 12; edit++) await replace(keys(80_000, edit), [{}]);
      await unharmed();
    });

    it("uses no more memory for values that JSON makes six times as long", async () => {
      for (let edit = 0; edit < 12; edit++) await replace({ a: "\u0001".repeat(450_000 + edit) });
      await unharmed();
    });

    it("uses no more memory for 400 silent connections to metrics and probes", async () => {
      const idle = Object.values(wave.ports).flatMap((port) =>
        Array.from({ length: 200 }, () => connectTcp(port, "127.0.0.1").on("error", () => {})),
      );
      // A busy API server sends bookmarks late, which the response notes after "ok".
      expect(await wave.readyz()).toMatch(/^ok$/m);
      await unharmed();
      for (const socket of idle) socket.destroy();
    });
  },
);
