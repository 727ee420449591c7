import { expect, it } from "vitest";
import type { AnyObject } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until } from "../control-plane/wave-process.ts";
import { chartAccount } from "../deploy/chart-account.ts";
import { container, makeNamespace, optIn } from "../end-to-end/objects.ts";
import { waveEvents } from "../end-to-end/state.ts";

interface CronJob extends AnyObject {
  readonly spec: {
    readonly jobTemplate: { readonly spec: { readonly template: { readonly metadata?: { annotations?: object } } } };
  };
}

describeOnControlPlane("a CronJob that opted in", (cluster) => {
  it("runs once for each change, in addition to its schedule", async () => {
    const ns = "kinds-cron-jobs";
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("report", { a: "1" });
    const podSpec = {
      restartPolicy: "Never",
      containers: [{ ...container, envFrom: [{ configMapRef: { name: "report" } }] }],
    };
    const make = (name: string, suspend: boolean) =>
      cluster.api("POST", `/apis/batch/v1/namespaces/${ns}/cronjobs`, {
        metadata: { name, annotations: optIn },
        spec: { schedule: "0 0 1 1 *", suspend, jobTemplate: { spec: { template: { spec: podSpec } } } },
      });
    await make("report", false);
    await make("suspended", true);
    const hashOf = async (name: string) => {
      const { spec } = await cluster.api<CronJob>("GET", `/apis/batch/v1/namespaces/${ns}/cronjobs/${name}`);
      return JSON.stringify(spec.jobTemplate.spec.template.metadata?.annotations ?? {});
    };
    const hashAfter = (name: string, before: string) =>
      until(`another hash of ${name}`, async () => {
        const now = await hashOf(name);
        return now !== before && now.includes("v2:") ? now : undefined;
      });
    const jobs = () => cluster.list(`/apis/batch/v1/namespaces/${ns}/jobs`);
    const account = await chartAccount(cluster, ns, `namespaces={${ns}},workloadKinds={cronjobs.batch}`);
    const flags = [`--namespaces=${ns}`, "--workload-kinds=cronjobs.batch"];
    const wave = await startWave(["--kubeconfig", account.kubeconfig, ...flags]);
    try {
      const first = await hashAfter("report", "{}");
      const suspended = await hashAfter("suspended", "{}");
      expect(await jobs()).toEqual([]);
      await namespace.edit("ConfigMap", "report", { a: "2" });
      const second = await hashAfter("report", first);
      await hashAfter("suspended", suspended);
      const made = await jobs();
      expect(made.map(({ metadata }) => metadata.annotations?.["cronjob.kubernetes.io/instantiate"])).toEqual([
        "manual",
      ]);
      expect(JSON.stringify(made)).toContain(second.slice(2, -2).split('":"')[1]);
      await until("an Event", async () =>
        (await waveEvents(cluster, ns, "report")).find(({ reason }) => reason === "ConfigChanged"),
      );
      await namespace.edit("ConfigMap", "report", { a: "3" });
      await hashAfter("report", second);
      expect(await jobs()).toHaveLength(2);
    } finally {
      await wave.stop();
      await account.remove();
    }
    expect(account.forbidden()).toEqual([]);
  });
});
