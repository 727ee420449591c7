import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, type WaveProcess } from "../control-plane/wave-process.ts";
import { type ChartAccount, chartAccount } from "../deploy/chart-account.ts";
import { container, makeNamespace, type Namespace, optIn, workload } from "./objects.ts";
import { newHash, recordedHash, revisionsToBe, settledRevisions } from "./state.ts";

/** A way in which a Pod reads one ConfigMap or Secret `name`, and whether the Pod sees the keys `a` and `b`. */
interface ReferenceCase {
  readonly title: string;
  readonly kind: "ConfigMap" | "Secret";
  readonly sees: "a" | "both";
  readonly podSpec: (name: string) => Record<string, unknown>;
  readonly annotations?: (name: string) => Record<string, string>;
}

const mounted = (volume: Record<string, unknown>, mount: Record<string, unknown> = {}) => ({
  containers: [{ ...container, volumeMounts: [{ name: "config", mountPath: "/config", ...mount }] }],
  volumes: [{ name: "config", ...volume }],
});
const onlyA = [{ key: "a", path: "file" }];
const nothing = { containers: [container] };

const cases: readonly ReferenceCase[] = [
  {
    title: "env configMapKeyRef",
    kind: "ConfigMap",
    sees: "a",
    podSpec: (name) => ({
      containers: [{ ...container, env: [{ name: "A", valueFrom: { configMapKeyRef: { name, key: "a" } } }] }],
    }),
  },
  {
    title: "env secretKeyRef",
    kind: "Secret",
    sees: "a",
    podSpec: (name) => ({
      containers: [{ ...container, env: [{ name: "A", valueFrom: { secretKeyRef: { name, key: "a" } } }] }],
    }),
  },
  {
    title: "envFrom configMapRef",
    kind: "ConfigMap",
    sees: "both",
    podSpec: (name) => ({ containers: [{ ...container, envFrom: [{ configMapRef: { name } }] }] }),
  },
  {
    title: "envFrom secretRef of an initContainer",
    kind: "Secret",
    sees: "both",
    podSpec: (name) => ({
      ...nothing,
      initContainers: [{ ...container, name: "i", envFrom: [{ secretRef: { name } }] }],
    }),
  },
  {
    title: "env of a sidecar",
    kind: "ConfigMap",
    sees: "a",
    podSpec: (name) => ({
      ...nothing,
      initContainers: [
        {
          ...container,
          name: "sidecar",
          restartPolicy: "Always",
          env: [{ name: "A", valueFrom: { configMapKeyRef: { name, key: "a" } } }],
        },
      ],
    }),
  },
  {
    title: "volume configMap",
    kind: "ConfigMap",
    sees: "both",
    podSpec: (name) => mounted({ configMap: { name } }),
  },
  {
    title: "volume secret",
    kind: "Secret",
    sees: "both",
    podSpec: (name) => mounted({ secret: { secretName: name } }),
  },
  {
    title: "volume configMap with items",
    kind: "ConfigMap",
    sees: "a",
    podSpec: (name) => mounted({ configMap: { name, items: onlyA } }),
  },
  {
    title: "volume secret with items",
    kind: "Secret",
    sees: "a",
    podSpec: (name) => mounted({ secret: { secretName: name, items: onlyA } }),
  },
  {
    title: "projected configMap",
    kind: "ConfigMap",
    sees: "both",
    podSpec: (name) => mounted({ projected: { sources: [{ configMap: { name } }] } }),
  },
  {
    title: "projected secret with items",
    kind: "Secret",
    sees: "a",
    podSpec: (name) => mounted({ projected: { sources: [{ secret: { name, items: onlyA } }] } }),
  },
  {
    title: "volume mounted by subPath of a key",
    kind: "ConfigMap",
    sees: "a",
    podSpec: (name) => mounted({ configMap: { name } }, { subPath: "a" }),
  },
  {
    title: "volume mounted by subPath of an item",
    kind: "Secret",
    sees: "a",
    podSpec: (name) =>
      mounted({ secret: { secretName: name, items: [...onlyA, { key: "b", path: "other" }] } }, { subPath: "file" }),
  },
  {
    title: "volume mounted by subPathExpr",
    kind: "ConfigMap",
    sees: "both",
    podSpec: (name) => mounted({ configMap: { name } }, { subPathExpr: "a" }),
  },
  {
    title: "annotation extra-configmaps",
    kind: "ConfigMap",
    sees: "both",
    podSpec: () => nothing,
    annotations: (name) => ({ "wave.pusher.com/extra-configmaps": name }),
  },
  {
    title: "annotation extra-secrets",
    kind: "Secret",
    sees: "both",
    podSpec: () => nothing,
    annotations: (name) => ({ "wave.pusher.com/extra-secrets": name }),
  },
];

describeOnControlPlane("a Deployment that reads its configuration by", (cluster) => {
  let namespace: Namespace;
  let wave: WaveProcess;
  let account: ChartAccount;

  beforeAll(async () => {
    namespace = await makeNamespace(cluster, "references");
    await namespace.configMap("canary", { a: "0" });
    await namespace.create(
      workload("canary", { containers: [{ ...container, envFrom: [{ configMapRef: { name: "canary" } }] }] }),
    );
    account = await chartAccount(cluster, "references", "namespaces={references}");
    wave = await startWave(["--kubeconfig", account.kubeconfig, "--namespaces=references"]);
  });
  afterAll(async () => {
    await wave?.stop();
    await account?.remove();
    expect(account?.forbidden()).toEqual([]);
  });

  /** Resolves when Wave has processed all earlier changes, because it has rolled a workload that changed later. */
  const caughtUp = async () => {
    const before = await recordedHash(cluster, "references", "Deployment", "canary");
    await namespace.edit("ConfigMap", "canary", { a: `${before} and on` });
    await newHash(cluster, "references", "Deployment", "canary", before);
  };

  it.for(cases)("$title rolls once for a change that its Pods see, and for no other change", async (reference) => {
    const name = reference.title.toLowerCase().replaceAll(" ", "-");
    const make = reference.kind === "ConfigMap" ? namespace.configMap : namespace.secret;
    await make(name, { a: "1", b: "1" });
    const annotations = { ...optIn, ...reference.annotations?.(name) };
    await namespace.create(workload(name, reference.podSpec(name), { annotations }));
    const first = await newHash(cluster, "references", "Deployment", name);
    expect(first).toMatch(/^v2:[0-9a-f]{64}$/);

    // Each change is completed before the next change, because Kubernetes creates one ReplicaSet for two simultaneous changes.
    const start = await settledRevisions(cluster, "references", "Deployment", name);
    await namespace.edit(reference.kind, name, { a: "2" });
    const second = await newHash(cluster, "references", "Deployment", name, first);
    await revisionsToBe(cluster, "references", "Deployment", name, start + 1);
    await namespace.edit(reference.kind, name, { b: "2" });
    const third = reference.sees === "both" ? await newHash(cluster, "references", "Deployment", name, second) : second;
    const path = `/api/v1/namespaces/references/${reference.kind.toLowerCase()}s/${name}`;
    await namespace.merge(path, { metadata: { labels: { nobody: "reads" }, annotations: { this: "either" } } });
    await caughtUp();

    expect(await recordedHash(cluster, "references", "Deployment", name)).toBe(third);
    await revisionsToBe(cluster, "references", "Deployment", name, reference.sees === "both" ? start + 2 : start + 1);
  });
});
