import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { container, makeNamespace, type Namespace, namespaceAs, workload } from "../end-to-end/objects.ts";
import { newHash, recordedHash, revisionsToBe, settledRevisions, waveEvents } from "../end-to-end/state.ts";
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
describeOnControlPlane("Wave with an operator that writes Secrets", (cluster) => {
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
});
