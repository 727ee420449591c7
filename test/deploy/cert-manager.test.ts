import { expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { deploymentIn, type Manifest, ofKind, rendered } from "./rendered.ts";

interface Certificate extends Manifest {
  readonly spec: { readonly secretName: string; readonly dnsNames?: readonly string[]; readonly issuerRef: object };
}

const on = { webhooks: { enabled: true, certManager: { enabled: true, tokenSecret: "token" } } };

describeOnControlPlane("the chart with cert-manager", (cluster) => {
  const certificates = async (...values: readonly string[]) =>
    ofKind("Certificate", await rendered(cluster, on, ...values)) as readonly Certificate[];

  it("makes Wave serve the certificate of cert-manager at the path of the token", async () => {
    const manifests = await rendered(cluster, on);
    const serving = (ofKind("Certificate", manifests) as readonly Certificate[]).find(({ spec }) => spec.dnsNames);
    const [service] = ofKind("Service", manifests);
    expect(serving?.spec.dnsNames).toContain(`${service?.metadata.name}.wave-system.svc`);
    const { containers, volumes } = deploymentIn(manifests).spec.template.spec;
    expect(containers[0].args).toContain("--webhook-tls-directory=/certificates");
    expect(containers[0].volumeMounts).toEqual([{ name: "certificates", mountPath: "/certificates", readOnly: true }]);
    const sources = [
      { secret: { name: serving?.spec.secretName } },
      { secret: { name: "token", items: [{ key: "token", path: "token" }] } },
    ];
    expect(volumes).toEqual([{ name: "certificates", projected: { sources } }]);
  });

  it("leaves the caBundle to cert-manager, and keeps custom annotations", async () => {
    const webhooks = { ...on.webhooks, annotations: { a: "b" } };
    const [configuration] = ofKind("MutatingWebhookConfiguration", await rendered(cluster, { webhooks }));
    const inject = { "cert-manager.io/inject-ca-from": "wave-system/wave-webhook-tls" };
    expect(configuration?.metadata.annotations).toEqual({ a: "b", ...inject });
    expect((await certificates()).map(({ metadata }) => metadata.name)).toContain("wave-webhook-tls");
  });

  it("uses an authority that lives longer than its certificates, so that a renewal keeps the caBundle", async () => {
    const [authority, serving] = await certificates();
    expect(authority?.spec).toMatchObject({ isCA: true, duration: "87600h", secretName: "wave-webhook-ca" });
    const issuers = ofKind("Issuer", await rendered(cluster, on));
    const issuer = issuers.find(({ spec }) => JSON.stringify(spec) === '{"ca":{"secretName":"wave-webhook-ca"}}');
    expect(serving?.spec.issuerRef).toEqual({ name: issuer?.metadata.name, kind: "Issuer" });
  });

  it("uses the given issuer, and then creates no authority", async () => {
    const issuerRef = "webhooks.certManager.issuerRef";
    const found = await certificates(`${issuerRef}.name=corporate,${issuerRef}.kind=ClusterIssuer`);
    expect(found.map(({ spec }) => spec.issuerRef)).toEqual([{ name: "corporate", kind: "ClusterIssuer" }]);
  });

  it("does not permit Wave to create Secrets", async () => {
    const manifests = await rendered(cluster, on, "accountPolicy.enabled=true");
    const secrets = ofKind("Role", manifests).filter((role) => JSON.stringify(role.rules).includes('"secrets"'));
    expect(secrets).toEqual([]);
  });
});
