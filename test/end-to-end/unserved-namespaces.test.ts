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
      /^ok\n(?:.*\n)?cannot watch \w+ in served-later: forbidden\. Grant list and watch on [\w.]+ in namespace served-later with a Role\.\n/,
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

  it("works with Roles only, which allow to get their Namespace but not to watch it, and reads its annotations", async () => {
    const namespace = await makeApp("role-only");
    const all = await permissionsOf(cluster, "role-only", "namespaces={role-only}");
    const rule = { apiGroups: [""], resources: ["namespaces"], verbs: ["get", "list", "watch"] };
    const ofNamespace = all.filter(({ metadata }) => metadata.namespace !== undefined);
    await apply(
      cluster,
      ofNamespace.map((each) => (Array.isArray(each.rules) ? { ...each, rules: [...each.rules, rule] } : each)),
    );
    const account = await accountOf(cluster, "role-only");
    onTestFinished(() => account.remove());
    const wave = await startWave([`--kubeconfig=${account.kubeconfig}`, "--namespaces=role-only"]);
    const first = await newHash(cluster, "role-only", "Deployment", "app");
    expect(await wave.readyz()).toBe("ok");
    await namespace.edit("ConfigMap", "app", { a: "2" });
    await newHash(cluster, "role-only", "Deployment", "app", first);

    const envFrom = [{ configMapRef: { name: "app" } }];
    const other = workload("other", { containers: [{ ...container, envFrom }] });
    await namespace.create({ ...other, metadata: { name: "other" } });
    await cluster.kubectl(["annotate", "namespace", "role-only", "wave.pusher.com/update-on-config-change=true"]);
    await newHash(cluster, "role-only", "Deployment", "other");
    expect(await wave.stop()).toBe(0);
  });
});
