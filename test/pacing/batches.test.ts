import { expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until } from "../control-plane/wave-process.ts";
import { makeNamespace } from "../end-to-end/objects.ts";
import { startFleet } from "../high-availability/fleet.ts";
import { hashOf, isComplete, makeApplications } from "./applications.ts";
import { deploymentWrites, timesEach } from "./written.ts";

const many = 200;

describeOnControlPlane("batches", (cluster) => {
  it(`roll one of ${many} after a bad edit, and all after a good edit`, async () => {
    const ns = "waves-bad-edit";
    const namespace = await makeNamespace(cluster, ns);
    const applications = await makeApplications(cluster, namespace, many);
    const args = ["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`, "--soak=1s", "--rollout-timeout=30s"];
    const wave = await startWave(args, { paced: true });
    try {
      const first = await applications.onlyHash();
      await applications.complete();
      await namespace.edit("ConfigMap", "shared", { state: "bad" });

      const halted = await until(
        `Events on ${many - 1} Deployments`,
        async () => {
          const events = await cluster.list(`/api/v1/namespaces/${ns}/events`);
          const reported = events.filter(
            ({ reason }) => reason === "RolloutHalted",
          ) as unknown as readonly HaltedEvent[];
          const deployments = reported.filter(({ involvedObject }) => involvedObject.kind === "Deployment");
          return deployments.length >= many - 1 ? reported : undefined;
        },
        150_000,
      );
      const reported = halted.filter(({ involvedObject }) => involvedObject.kind === "ConfigMap");
      // The order follows from names only after the first hash no longer holds any of the Deployments.
      const hit = (await applications.list())
        .filter((each) => hashOf(each) !== first)
        .map(({ metadata }) => metadata.name);
      expect(hit).toHaveLength(1);
      expect(reported.map(({ message }) => message)).toEqual([expect.stringContaining(`"${hit[0]}"`)]);
      expect(new Set(halted.map(({ type }) => type))).toEqual(new Set(["Warning"]));
      const hashes = await applications.hashes();
      expect([...hashes.values()].toSorted()).toEqual([1, many - 1].toSorted());
      expect(hashes.get(first)).toBe(many - 1);

      await namespace.edit("ConfigMap", "shared", { state: "good", edit: "2" });
      const last = await applications.onlyHash(first);
      await applications.complete();
      expect(last).not.toBe(first);
      // The first hash, the bad edit for one, and the good edit: each of these wrote each Deployment once.
      const counts = timesEach(await deploymentWrites(cluster, ns));
      expect(counts.toSorted()).toEqual([...Array(many - 1).fill(2), 3]);
    } finally {
      await wave.stop();
      await applications.stop();
    }
  });

  it("lose no step and roll nothing twice when the leader is killed in the middle", async () => {
    const ns = "waves-killed-leader";
    const count = 40;
    const atOnce = 4;
    const namespace = await makeNamespace(cluster, ns);
    const applications = await makeApplications(cluster, namespace, count);
    const flags = ["--soak=1s", `--max-concurrent-rollouts=${atOnce}`, "--settle=1s"];
    const timings = { lease: 8, renew: 6, retry: 1 };
    const fleet = await startFleet({ cluster, namespace: ns, size: 2, timings, flags });
    try {
      const first = await applications.onlyHash();
      await applications.complete();
      await namespace.edit("ConfigMap", "shared", { edit: "1" });
      const underWay: number[] = [];
      const rolled = async () => {
        const all = await applications.list();
        const changed = all.filter((each) => hashOf(each) !== first);
        underWay.push(changed.filter((each) => !isComplete(each)).length);
        return changed.length;
      };
      await until("a third to be rolled", async () => ((await rolled()) >= count / 3 ? true : undefined), 150_000);
      const leader = await fleet.nextLeader([], 60_000);
      await leader.wave.stop("SIGKILL");
      expect(await rolled()).toBeLessThan(count);
      await until("all to be rolled", async () => ((await rolled()) === count ? true : undefined), 150_000);
      await applications.complete();
      expect(Math.max(...underWay)).toBeLessThanOrEqual(atOnce);
      // The leader may be killed before the response to a write, which then has no status in the audit log.
      const times = timesEach(await deploymentWrites(cluster, ns));
      expect([times.length, times.filter((each) => each > 2)]).toEqual([count, []]);
    } finally {
      await fleet.close();
      await applications.stop();
    }
  });

  it("roll a workload with a higher priority before the others, and do not hold a workload without batches", async () => {
    const ns = "batches-priority";
    const namespace = await makeNamespace(cluster, ns);
    const applications = await makeApplications(cluster, namespace, 6);
    const annotate = (name: string, annotations: Record<string, string>) =>
      namespace.merge(`/apis/apps/v1/namespaces/${ns}/deployments/${name}`, { metadata: { annotations } });
    await annotate("app-004", { "wave.pusher.com/priority": "10" });
    await annotate("app-000", { "wave.pusher.com/priority": "-10" });
    await annotate("app-002", { "wave.pusher.com/batches": "off" });
    const args = ["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`, "--soak=1s", "--max-concurrent-rollouts=1"];
    const wave = await startWave(args, { paced: true });
    try {
      await applications.onlyHash();
      // Otherwise the Deployment that was written first would be first, whatever its annotation says.
      await applications.free();
      await namespace.edit("ConfigMap", "shared", { edit: "1" });
      const rolled = async () => (await deploymentWrites(cluster, ns)).slice(6);
      const order = await until(
        "all to be rolled",
        async () => {
          const names = await rolled();
          return names.length === 6 ? names : undefined;
        },
        150_000,
      );
      expect(order.filter((name) => name !== "app-002")).toEqual([
        "app-004",
        "app-001",
        "app-003",
        "app-005",
        "app-000",
      ]);
      expect(order.indexOf("app-002")).toBeLessThanOrEqual(1);
    } finally {
      await wave.stop();
      await applications.stop();
    }
  });
});

interface HaltedEvent {
  readonly reason: string;
  readonly type: string;
  readonly message: string;
  readonly involvedObject: { readonly kind: string };
}
