import { expect, it, onTestFinished } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until } from "../control-plane/wave-process.ts";
import { accountOf, apply, permissionsOf } from "../deploy/chart-account.ts";
import { container, makeNamespace, workload } from "./objects.ts";
import { newHash } from "./state.ts";

const [granted, later, absent] = ["served", "served-later", "not-there-yet"];

describeOnControlPlane("Wave without permission to list some of its namespaces", (cluster) => {
  const grant = async (namespace: string) => {
    const all = await permissionsOf(cluster, granted, `namespaces={${granted},${later},${absent}}`);
    await apply(
      cluster,
      all.filter(({ metadata }) => metadata.namespace === undefined || metadata.namespace === namespace),
    );
  };
  const makeApp = async (name: string) => {
    const namespace = await makeNamespace(cluster, name);
    await namespace.configMap("app", { a: "1" });
    const envFrom = [{ configMapRef: { name: "app" } }];
    await namespace.create(workload("app", { containers: [{ ...container, envFrom }] }));
    return namespace;
  };

  it("syncs the other namespaces, reports the missing permission, and syncs each namespace as soon as it is permitted or created", async () => {
    const namespace = await makeApp(granted);
    await makeApp(later);
    await grant(granted);
    const account = await accountOf(cluster, granted);
    onTestFinished(() => account.remove());
    const wave = await startWave([`--kubeconfig=${account.kubeconfig}`, `--namespaces=${granted},${later},${absent}`]);
    const unsynced = async () =>
      Number(/^wave_cache_unsynced_namespaces (\d+)$/m.exec(await wave.metrics())?.[1] ?? Number.NaN);

    const first = await newHash(cluster, granted, "Deployment", "app");
    await namespace.edit("ConfigMap", "app", { a: "2" });
    await newHash(cluster, granted, "Deployment", "app", first);
    expect(await unsynced()).toBe(2);
    expect(await wave.readyz()).toMatch(
      /^ok\n(?:.*\n)?cannot watch \w+ in served-later: forbidden\. Grant list and watch on [\w.]+ in namespace served-later\.\n/,
    );

    await grant(later);
    await newHash(cluster, later, "Deployment", "app");
    await makeApp(absent);
    await grant(absent);
    await newHash(cluster, absent, "Deployment", "app");
    await until("all namespaces to be synced", async () => ((await unsynced()) === 0 ? true : undefined));
    expect(await wave.readyz()).toBe("ok");
    expect(await wave.stop()).toBe(0);
  });
});
