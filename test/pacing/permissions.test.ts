import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountOf } from "../control-plane/accounts.ts";
import type { Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import {
  container,
  makeNamespace,
  type Namespace,
  namespaceAs,
  workload,
  workloadPath,
} from "../end-to-end/objects.ts";
import { newHash, recordedHash, waveEvents } from "../end-to-end/state.ts";
import { makeTenant, type Tenant } from "../hostile/tenant.ts";
import { closedWindow } from "../support/pacing/closed-window.ts";

const prefix = "wave.pusher.com/";
const shop = "who-may-shop";
const guest = "who-may-guest";

/** The annotations that protect a workload, and the expected report to its owners. */
const protections = [
  { annotations: { hold: "true" }, expected: /hold/ },
  { annotations: { mode: "approve" }, expected: /approv/ },
  { annotations: { mode: "observe" }, expected: /observe/ },
  { annotations: { window: closedWindow() }, expected: /window/ },
] as const;

/** All annotations that would end the protection if they were on the workload or its Namespace. */
const lifting = {
  hold: "false",
  mode: "roll",
  window: "Mon-Sun 00:00-24:00",
  batches: "off",
  settle: "0",
  approved: "00000000",
  resumed: "2026-01-01T00:00:00Z",
};

const prefixed = (annotations: Record<string, string>) => ({
  metadata: {
    annotations: Object.fromEntries(Object.entries(annotations).map(([name, text]) => [prefix + name, text])),
  },
});

describeOnControlPlane("permission to edit configuration or workloads", (cluster) => {
  let namespace: Namespace;
  let configEditor: Cluster;
  let tenant: Tenant;
  let wave: WaveProcess;
  beforeAll(async () => {
    namespace = await makeNamespace(cluster, shop);
    configEditor = await accountOf(cluster, shop, "config-editor", {
      apiGroups: [""],
      resources: ["configmaps", "secrets"],
      verbs: ["*"],
    });
    tenant = await makeTenant(cluster, guest);
    const flags = ["--settle=200ms", "--soak=1s", "--rollout-timeout=30s", "--max-concurrent-rollouts=10"];
    const args = ["--kubeconfig", cluster.kubeconfig, `--namespaces=${shop},${guest}`, ...flags];
    wave = await startWave(args, { paced: true });
  });
  afterAll(async () => {
    await wave?.stop();
    configEditor?.close();
    tenant?.cluster.close();
  });

  const refused = (who: Cluster, path: string) =>
    expect(who.api("PATCH", path, prefixed(lifting), "application/merge-patch+json")).rejects.toThrow(/: 403 /);

  it("for ConfigMaps and Secrets does not allow annotations of a workload or a Namespace", async () => {
    await namespace.create(workload("app", { containers: [container] }));
    await refused(configEditor, workloadPath(shop, "Deployment", "app"));
    await refused(configEditor, `${workloadPath(shop, "Deployment", "app")}/status`);
    await refused(configEditor, `/api/v1/namespaces/${shop}`);
  });

  describe.for(protections.map((row, index) => ({ ...row, name: `protected-${index}` })))(
    "a workload with $annotations",
    ({ annotations, expected, name }) => {
      it("is not rolled by an editor of its configuration, whatever annotations the configuration has", async () => {
        await namespace.configMap(name, { edit: "0" });
        const podSpec = { containers: [{ ...container, envFrom: [{ configMapRef: { name } }] }] };
        await namespace.create(workload(name, podSpec));
        const first = await newHash(cluster, shop, "Deployment", name);
        await namespace.merge(workloadPath(shop, "Deployment", name), prefixed(annotations));
        const path = `/api/v1/namespaces/${shop}/configmaps/${name}`;
        const edit = { ...prefixed(lifting), data: { edit: "1" } };
        await configEditor.api("PATCH", path, edit, "application/merge-patch+json");
        await until("its owners to get an Event", async () => {
          const events = await waveEvents(cluster, shop, name);
          return events.some(({ reason, message }) => reason === "RolloutHeld" && expected.test(message))
            ? true
            : undefined;
        });
        expect(await recordedHash(cluster, shop, "Deployment", name)).toBe(first);
      });
    },
  );

  it("for everything inside a namespace does not allow annotations of the Namespace", async () => {
    await refused(tenant.cluster, `/api/v1/namespaces/${guest}`);
    await refused(tenant.cluster, `/api/v1/namespaces/${shop}`);
    await refused(tenant.cluster, workloadPath(shop, "Deployment", "app"));
  });

  it("of a tenant whose Pods fail does not halt workloads of other namespaces that read the same object", async () => {
    await namespace.configMap(
      "shared",
      { edit: "0" },
      { metadata: { name: "shared", annotations: { [`${prefix}shared-with`]: guest } } },
    );
    const extra = { [`${prefix}extra-configmaps`]: `${shop}/shared`, [`${prefix}priority`]: "1000" };
    const broken = { containers: [container], nodeSelector: { nobody: "has-this" } };
    const inGuest = namespaceAs(tenant.cluster, guest);
    for (const name of ["a", "b"]) await inGuest.create(workload(name, broken, { annotations: extra }));
    const podSpec = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "shared" } }] }] };
    const own = ["own-0", "own-1", "own-2"];
    for (const name of own) await namespace.create(workload(name, podSpec));
    const first = new Map<string, string | undefined>();
    for (const name of own) first.set(name, await newHash(cluster, shop, "Deployment", name));
    await namespace.edit("ConfigMap", "shared", { edit: "1" });
    for (const name of own) {
      await until(
        `${name} to be rolled`,
        async () => ((await recordedHash(cluster, shop, "Deployment", name)) === first.get(name) ? undefined : true),
        150_000,
      );
    }
  });
});
