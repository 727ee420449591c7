import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { type Cluster, connect } from "../control-plane/cluster.ts";
import { missingControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { startWave } from "../control-plane/wave-process.ts";
import { container, makeNamespace, workload } from "../end-to-end/objects.ts";
import { newHash } from "../end-to-end/state.ts";
import { makeMemoryCgroup } from "./memory-cgroup.ts";

const mebibyte = 2 ** 20;
/** The memory limit of the chart, in bytes. */
const limit = 128 * mebibyte;
/** A peak below it leaves room for what the process does besides, in MiB. */
const mostResident = 115;

const missing = missingControlPlane();
const cgroup = missing === undefined ? await makeMemoryCgroup(`wave-full-${process.pid}`, limit) : undefined;
afterAll(() => cgroup?.remove());
const reason = missing ?? (cgroup === undefined ? "this machine lets us make no cgroup for memory" : undefined);

describe.skipIf(reason !== undefined)(`several tenants at once${reason ? ` (${reason})` : ""}`, () => {
  it("use no more memory than the limit of the chart, and stop no small namespace", async () => {
    const plane = await startControlPlane({ workloads: false });
    onTestFinished(() => plane.stop());
    const cluster = connect(plane);
    onTestFinished(() => cluster.close());
    const victim = await makeNamespace(cluster, "victim");
    await victim.configMap("app", { a: "0" });
    const envFrom = [{ configMapRef: { name: "app" } }];
    await victim.create(workload("app", { containers: [{ ...container, envFrom }] }));
    const wave = await startWave([`--kubeconfig=${plane.kubeconfig}`], { cgroup: cgroup?.path });
    onTestFinished(async () => void (await wave.stop()));
    let hash = await newHash(cluster, "victim", "Deployment", "app");
    for (let tenant = 0; tenant < 6; tenant++) {
      await fill(cluster, tenant);
      await victim.edit("ConfigMap", "app", { a: `${tenant + 1}` });
      hash = await newHash(cluster, "victim", "Deployment", "app", hash);
    }
    expect(await wave.metrics()).toMatch(/^wave_cache_left_out_objects [1-9]/m);
    const resident = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${wave.process.pid}/status`, "utf8"))?.[1]);
    expect(resident / 1024).toBeLessThan(mostResident);
    expect(await cgroup?.peak()).toBeLessThan(limit);
  });
});

/** Makes a namespace with workloads that name 990 other objects each: together they exceed the limit of a namespace. */
async function fill(cluster: Cluster, tenant: number): Promise<void> {
  const namespace = await makeNamespace(cluster, `tenant-${tenant}`);
  for (let index = 0; index < 60; index++) {
    const names = Array.from({ length: 990 }, (_, at) => ((tenant * 60 + index) * 990 + at).toString(36));
    const annotations = { "wave.pusher.com/extra-configmaps": names.join(",") };
    await namespace.create(
      workload(`greedy-${index}`, { containers: [container] }, { spec: { replicas: 0 }, annotations }),
    );
  }
}
