import { expect, it, onTestFinished } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until } from "../control-plane/wave-process.ts";
import { chartAccount } from "../deploy/chart-account.ts";
import { container, makeNamespace, optIn } from "../end-to-end/objects.ts";
import { define, make, pathOf, playedKinds } from "../kinds/kinds.ts";
import { finalizer, ownedIn } from "./owned.ts";

const ns = "owned-widgets";

describeOnControlPlane("a kind of --workload-kinds", (cluster) => {
  it("owns what it references, with the permissions of the chart, and is deleted like any other workload", async () => {
    const widgets = playedKinds.find(({ kind }) => kind === "Widget");
    if (widgets === undefined) throw new Error("there are no widgets");
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("web", { a: "1" });
    await define(cluster, widgets);
    await make(cluster, widgets, ns, "web");
    const kinds = `workloadKinds={${widgets.flag}}`;
    const account = await chartAccount(cluster, ns, `namespaces={${ns}}`, kinds, "ownerReferences=true");
    const flags = [`--namespaces=${ns}`, `--workload-kinds=${widgets.flag}`, "--owner-references"];
    const wave = await startWave(["--kubeconfig", account.kubeconfig, ...flags]);
    onTestFinished(async () => {
      await wave.stop("SIGKILL");
      await account.remove();
    });
    const { untilOwned, owners } = ownedIn(cluster, ns);
    const path = pathOf(widgets, ns, "web");
    await untilOwned("configmaps/web", "Widget/web", `Namespace/${ns}`);
    const { metadata } = await cluster.api<{ metadata: { uid: string; finalizers: readonly string[] } }>("GET", path);
    expect(metadata.finalizers).toEqual([finalizer]);
    expect(await owners("configmaps/web")).toMatchObject([{ apiVersion: "example.com/v1", uid: metadata.uid }, {}]);

    await cluster.api("DELETE", `${path}?propagationPolicy=Background`);
    await until("the widget to be gone", () =>
      cluster.api("GET", path).then(
        () => undefined,
        () => true,
      ),
    );
    await untilOwned("configmaps/web");
    expect(await wave.stop()).toBe(0);
    expect(account.forbidden()).toEqual([]);
  });

  it("is a Job that is replaced for each change although it owns what it references", async () => {
    const jobNs = "owned-jobs";
    const namespace = await makeNamespace(cluster, jobNs);
    await namespace.configMap("migrate", { a: "1" });
    const jobs = `/apis/batch/v1/namespaces/${jobNs}/jobs`;
    await cluster.api("POST", jobs, {
      metadata: { name: "migrate", annotations: optIn },
      spec: {
        template: {
          spec: {
            restartPolicy: "Never",
            containers: [{ ...container, envFrom: [{ configMapRef: { name: "migrate" } }] }],
          },
        },
      },
    });
    const account = await chartAccount(
      cluster,
      jobNs,
      `namespaces={${jobNs}}`,
      "workloadKinds={jobs.batch}",
      "ownerReferences=true",
    );
    const flags = [`--namespaces=${jobNs}`, "--workload-kinds=jobs.batch", "--owner-references"];
    const wave = await startWave(["--kubeconfig", account.kubeconfig, ...flags]);
    onTestFinished(async () => {
      await wave.stop("SIGKILL");
      await account.remove();
    });
    const { untilOwned, owners } = ownedIn(cluster, jobNs);
    const read = () => cluster.api("GET", `${jobs}/migrate`);
    const replaced = (before: string) =>
      until("another Job", async () => {
        const { metadata } = await read();
        return metadata.uid === before || metadata.deletionTimestamp ? undefined : metadata.uid;
      });
    await untilOwned("configmaps/migrate", "Job/migrate", `Namespace/${jobNs}`);
    const first = await read();
    expect(first.metadata).toMatchObject({ finalizers: [finalizer] });
    let { uid } = first.metadata;
    for (const value of ["2", "3"]) {
      await namespace.edit("ConfigMap", "migrate", { a: value });
      uid = await replaced(uid);
      await until("the new owner", async () => {
        const found = await owners("configmaps/migrate");
        return found?.some((owner) => owner.uid === uid) ? true : undefined;
      });
    }
    expect(await wave.stop()).toBe(0);
    expect(account.forbidden()).toEqual([]);
  });
});
