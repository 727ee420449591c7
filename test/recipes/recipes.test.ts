import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { container, makeNamespace, type Namespace, namespaceAs, workload } from "../end-to-end/objects.ts";
import {
  getWorkload,
  newHash,
  recordedHash,
  revisionsToBe,
  settledRevisions,
  waveEvents,
} from "../end-to-end/state.ts";
import { defineOthersKinds, type PlayedOperators, playOperators, sealed, vault } from "./operators.ts";

const ns = "recipes";

const reads = (secretName: string) => ({
  containers: [{ ...container, envFrom: [{ secretRef: { name: secretName } }] }],
});
const mounts = (secretName: string, more: object = {}) => ({
  containers: [{ ...container, volumeMounts: [{ name: "tls", mountPath: "/tls" }] }],
  volumes: [{ name: "tls", secret: { secretName, ...more } }],
});

// Tests the statements of docs/secret-operators.md about each tool.
describeOnControlPlane("Wave with an operator that writes Secrets or ConfigMaps", (cluster) => {
  let wave: WaveProcess;
  let operators: PlayedOperators;
  let namespace: Namespace;
  beforeAll(async () => {
    await defineOthersKinds(cluster);
    operators = playOperators(cluster);
    namespace = await makeNamespace(cluster, ns);
    await makeNamespace(cluster, vault);
    wave = await startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`]);
  });
  afterAll(async () => {
    await wave?.stop();
    await operators?.[Symbol.asyncDispose]();
  });

  const apply = (manifest: object) =>
    cluster.kubectl(["apply", "--server-side", "--force-conflicts", "-n", ns, "-f", "-"], JSON.stringify(manifest));
  const hash = (name: string) => recordedHash(cluster, ns, "Deployment", name);
  const rolled = (name: string, before: string | undefined) => newHash(cluster, ns, "Deployment", name, before);
  const secretIs = (name: string, is: (secret: Record<string, unknown> | undefined) => boolean) =>
    until(`Secret ${name} to be written`, async () => {
      const found = await cluster
        .api<Record<string, unknown>>("GET", `/api/v1/namespaces/${ns}/secrets/${name}`)
        .catch(() => undefined);
      return is(found as never) ? true : undefined;
    });
  /** Waits until the operators have written and Wave has planned all earlier changes: a later workload then has its hash. */
  const caughtUp = async (mark: string) => {
    await operators.caughtUp();
    await namespace.configMap(mark, { a: "0" });
    const envFrom = [{ configMapRef: { name: mark } }];
    await namespace.create(workload(mark, { containers: [{ ...container, envFrom }] }));
    await rolled(mark, undefined);
  };

  const externalSecret = (forced: string) => ({
    apiVersion: "external-secrets.io/v1",
    kind: "ExternalSecret",
    metadata: { name: "db", annotations: { "force-sync": forced } },
    spec: {
      secretStoreRef: { kind: "ClusterSecretStore", name: "vault" },
      target: { name: "db", deletionPolicy: "Delete" },
      data: [{ secretKey: "password", remoteRef: { key: "recipes/db", property: "password" } }],
    },
  });

  it("external-secrets: waits for the first Secret, ignores a refresh, rolls once for a rotation", async () => {
    await namespace.create(workload("eso", reads("db")));
    await until("the wait to be told", async () => {
      const events = await waveEvents(cluster, ns, "eso");
      return events.some(({ reason }) => reason === "ConfigMissing") || undefined;
    });
    await namespaceAs(cluster, vault).secret("recipes-db", { password: "first" });
    await apply(externalSecret("0"));
    const first = await rolled("eso", undefined);
    const revisions = await settledRevisions(cluster, ns, "Deployment", "eso");

    await apply(externalSecret("1"));
    await secretIs("db", (secret) => JSON.stringify(secret).includes('"force-sync":"1"'));
    await caughtUp("after-a-refresh");
    expect(await hash("eso")).toBe(first);

    await namespaceAs(cluster, vault).edit("Secret", "recipes-db", { password: "second" });
    await rolled("eso", first);
    await revisionsToBe(cluster, ns, "Deployment", "eso", revisions + 1);
  });

  it("external-secrets: keeps the Pods of a deleted Secret, and rolls nothing when the same Secret is created again", async () => {
    const before = await hash("eso");
    await namespaceAs(cluster, vault).remove("Secret", "recipes-db");
    await secretIs("db", (secret) => secret === undefined);
    await caughtUp("after-it-vanished");
    expect(await hash("eso")).toBe(before);
    await namespaceAs(cluster, vault).secret("recipes-db", { password: "second" });
    await secretIs("db", (secret) => secret !== undefined);
    await caughtUp("after-it-came-back");
    expect(await hash("eso")).toBe(before);
  });

  it("sealed-secrets: ignores another seal of the same value, and rolls for another value", async () => {
    const sealedSecret = (cipher: string) => ({
      apiVersion: "bitnami.com/v1alpha1",
      kind: "SealedSecret",
      metadata: { name: "mail" },
      spec: { encryptedData: { password: cipher } },
    });
    await namespace.create(workload("mail", reads("mail")));
    await apply(sealedSecret(sealed("first", "a")));
    const first = await rolled("mail", undefined);
    await apply(sealedSecret(sealed("first", "b")));
    await caughtUp("after-another-seal");
    expect(await hash("mail")).toBe(first);
    await apply(sealedSecret(sealed("second", "c")));
    await rolled("mail", first);
  });

  it("cert-manager: a renewal rolls workloads that read the certificate, not those that read only the authority or exclude the certificate", async () => {
    const certificate = (dnsName: string) => ({
      apiVersion: "cert-manager.io/v1",
      kind: "Certificate",
      metadata: { name: "web" },
      spec: { secretName: "web-tls", dnsNames: [dnsName], issuerRef: { kind: "ClusterIssuer", name: "letsencrypt" } },
    });
    const annotations = { "wave.pusher.com/exclude-secrets": "web-tls", "wave.pusher.com/extra-secrets": "own" };
    await namespace.secret("own", { a: "b" });
    await namespace.create(workload("server", mounts("web-tls")));
    await namespace.create(workload("client", mounts("web-tls", { items: [{ key: "ca.crt", path: "ca.crt" }] })));
    await namespace.create(workload("reloads-itself", mounts("web-tls"), { annotations }));
    await apply(certificate("shop.example"));
    const first = await rolled("server", undefined);
    const others = [await rolled("client", undefined), await rolled("reloads-itself", undefined)];
    await apply(certificate("store.example"));
    await rolled("server", first);
    await caughtUp("after-a-renewal");
    expect([await hash("client"), await hash("reloads-itself")]).toEqual(others);
  });

  const vaultSecret = (name: string, more: object) => ({
    apiVersion: "secrets.hashicorp.com/v1beta1",
    kind: "VaultStaticSecret",
    metadata: { name },
    spec: { mount: "secret", type: "kv-v2", path: `recipes/${name}`, ...more },
  });

  it("Vault Secrets Operator: a new version with the same values rolls only Pods that read the key _raw", async () => {
    await namespaceAs(cluster, vault).secret("recipes-mq", { password: "first" });
    const withoutRaw = { name: "mq", create: true, transformation: { excludeRaw: true } };
    await apply(vaultSecret("mq", { destination: withoutRaw }));
    await apply({ ...vaultSecret("mq", { destination: { name: "mq-raw" } }), metadata: { name: "mq-raw" } });
    await namespace.create(workload("mq", reads("mq")));
    await namespace.create(workload("mq-raw", reads("mq-raw")));
    const first = await rolled("mq", undefined);
    const raw = await rolled("mq-raw", undefined);

    await cluster.kubectl(["annotate", "secret", "recipes-mq", "-n", vault, "version=2"]);
    await rolled("mq-raw", raw);
    await caughtUp("after-a-version");
    expect(await hash("mq")).toBe(first);

    await namespaceAs(cluster, vault).edit("Secret", "recipes-mq", { password: "second" });
    await rolled("mq", first);
  });

  it("Vault Secrets Operator: an edit changes the pod template twice with restart targets, and once without", async () => {
    const generation = async () => (await getWorkload(cluster, ns, "Deployment", "twice")).metadata.generation ?? 0;
    const destination = { name: "twice", transformation: { excludeRaw: true } };
    const rolloutRestartTargets = [{ kind: "Deployment", name: "twice" }];
    await namespaceAs(cluster, vault).secret("recipes-twice", { password: "first" });
    await apply(vaultSecret("twice", { destination, rolloutRestartTargets }));
    await namespace.create(workload("twice", reads("twice")));
    const first = await rolled("twice", undefined);

    const before = await generation();
    await namespaceAs(cluster, vault).edit("Secret", "recipes-twice", { password: "second" });
    const second = await rolled("twice", first);
    await caughtUp("after-a-restart");
    expect(await generation()).toBe(before + 2);

    await apply(vaultSecret("twice", { destination }));
    await namespaceAs(cluster, vault).edit("Secret", "recipes-twice", { password: "third" });
    await rolled("twice", second);
    await caughtUp("after-no-restart");
    expect(await generation()).toBe(before + 3);
  });

  it("trust-manager: another authority rolls the readers of the ConfigMap, except those that exclude it", async () => {
    const bundle = (inLine: string) => ({
      apiVersion: "trust.cert-manager.io/v1alpha1",
      kind: "Bundle",
      metadata: { name: "company-ca" },
      spec: {
        sources: [{ inLine }],
        target: {
          configMap: { key: "ca.pem" },
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": ns } },
        },
      },
    });
    const trusts = {
      containers: [{ ...container, volumeMounts: [{ name: "ca", mountPath: "/ca" }] }],
      volumes: [{ name: "ca", configMap: { name: "company-ca" } }],
    };
    const annotations = {
      "wave.pusher.com/exclude-configmaps": "company-ca",
      "wave.pusher.com/extra-secrets": "token",
    };
    await namespace.secret("token", { a: "b" });
    await apply(bundle("old authority"));
    await namespace.create(workload("trusts", trusts));
    await namespace.create(workload("reloads-authorities", trusts, { annotations }));
    const first = await rolled("trusts", undefined);
    const other = await rolled("reloads-authorities", undefined);
    await apply(bundle("old and new authority"));
    await rolled("trusts", first);
    await caughtUp("after-an-authority");
    expect(await hash("reloads-authorities")).toBe(other);
  });
});
