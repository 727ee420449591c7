import { expect, it } from "vitest";
import { replacementRecord } from "../../src/domain/model/job-replacement.ts";
import type { AnyObject } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until } from "../control-plane/wave-process.ts";
import { chartAccount } from "../deploy/chart-account.ts";
import { container, makeNamespace, optIn } from "../end-to-end/objects.ts";
import { waveEvents } from "../end-to-end/state.ts";

interface Job extends AnyObject {
  readonly spec: { readonly template: { readonly metadata?: { readonly annotations?: Record<string, string> } } };
}

describeOnControlPlane("a Job that opted in", (cluster) => {
  it("is recreated with the same name for each change, but not for its first hash and not if another object creates it", async () => {
    const ns = "kinds-jobs";
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("migrate", { a: "1" });
    const podSpec = {
      restartPolicy: "Never",
      containers: [{ ...container, envFrom: [{ configMapRef: { name: "migrate" } }] }],
    };
    const jobs = `/apis/batch/v1/namespaces/${ns}/jobs`;
    const create = (name: string, metadata: object = {}) =>
      cluster.api("POST", jobs, {
        metadata: { name, annotations: optIn, labels: { app: name }, ...metadata },
        spec: { backoffLimit: 3, template: { metadata: { labels: { app: name } }, spec: podSpec } },
      });
    await create("migrate");
    await create("kept", { finalizers: ["example.com/kept"] });
    const maker = await cluster.api("GET", `/api/v1/namespaces/${ns}/configmaps/migrate`);
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "migrate", uid: maker.metadata.uid, controller: true };
    await create("run-of-another", { ownerReferences: [owner] });
    // A process that ended between the deletion of this Job and its creation has left the record.
    const metadata = { namespace: ns, name: "lost", annotations: optIn, labels: { app: "lost" } };
    const lost = { metadata, spec: { backoffLimit: 3, parallelism: 2, template: { spec: podSpec } } };
    await cluster.api("POST", jobs, replacementRecord(lost, "gone"));
    const read = (name: string) => cluster.api<Job>("GET", `${jobs}/${name}`);
    const account = await chartAccount(cluster, ns, `namespaces={${ns}},workloadKinds={jobs.batch}`);
    const flags = [`--namespaces=${ns}`, "--workload-kinds=jobs.batch"];
    const wave = await startWave(["--kubeconfig", account.kubeconfig, ...flags]);
    try {
      const first = await until("its baseline", async () => {
        const job = await read("migrate");
        return job.metadata.annotations?.["wave.pusher.com/recorded-config"] === undefined ? undefined : job;
      });
      const created = await until("the lost Job", () => read("lost").catch(() => undefined));
      expect(created).toMatchObject({
        metadata: { annotations: optIn, labels: { app: "lost" } },
        spec: { parallelism: 2 },
      });
      expect(created.spec).not.toHaveProperty("suspend", true);
      await until("the record to be gone", async () => {
        const records = await cluster.list(`${jobs}?labelSelector=wave.pusher.com/job-replacement`);
        return records.length === 0 || undefined;
      });
      const again = (before: Job) =>
        until("another Job", async () => {
          const job = await read("migrate").catch(() => undefined);
          return job !== undefined && job.metadata.uid !== before.metadata.uid ? job : undefined;
        });
      await namespace.edit("ConfigMap", "migrate", { a: "2" });
      const second = await again(first);
      const hashOf = ({ spec }: Job) => spec.template.metadata?.annotations?.["wave.pusher.com/config-hash"];
      expect(hashOf(second)).toMatch(/^v2:/);
      expect(second.metadata).toMatchObject({ labels: { app: "migrate" }, annotations: optIn });
      expect(second.metadata.annotations).not.toHaveProperty(["wave.pusher.com/recorded-config"]);
      expect(second.spec).toMatchObject({ backoffLimit: 3, template: { metadata: { labels: { app: "migrate" } } } });
      await until("an Event", async () =>
        (await waveEvents(cluster, ns, "migrate")).find(({ reason }) => reason === "ConfigChanged"),
      );
      await namespace.edit("ConfigMap", "migrate", { a: "3" });
      const third = await again(second);
      expect(hashOf(third)).not.toBe(hashOf(second));
      const refused = await until("an Event", async () =>
        (await waveEvents(cluster, ns, "kept")).find(({ type }) => type === "Warning"),
      );
      expect(refused.message).toContain("it has finalizers");
      expect((await read("kept")).metadata).not.toHaveProperty("deletionTimestamp");
      const { annotations, generation } = (await read("run-of-another")).metadata;
      expect([annotations, generation]).toEqual([optIn, 1]);
    } finally {
      await namespace.merge(`${jobs}/kept`, { metadata: { finalizers: null } });
      await wave.stop();
      await account.remove();
    }
    expect(account.forbidden()).toEqual([]);
  });
});
