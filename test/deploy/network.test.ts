import { expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { only, rendered } from "./rendered.ts";

describeOnControlPlane("the chart's NetworkPolicy", (cluster) => {
  const policy = async (networkPolicy: object, ...values: readonly string[]) => {
    const found = only(
      "NetworkPolicy",
      await rendered(cluster, { networkPolicy: { enabled: true, ...networkPolicy } }, ...values),
    );
    // The API server checks that the policy is valid.
    await cluster.kubectl(["create", "--dry-run=server", "-n", "default", "-f", "-"], inDefault(found));
    return found.spec;
  };
  const scrapers = [{ namespaceSelector: { matchLabels: { name: "monitoring" } } }];
  const apiServers = [{ ipBlock: { cidr: "10.0.0.0/24" } }];

  it("permits API servers to reach the webhook and scrapers to reach the metrics, and nothing else", async () => {
    expect(await policy({ scrapers, apiServers }, "webhooks.enabled=true")).toEqual({
      podSelector: { matchLabels: { "app.kubernetes.io/name": "wave", "app.kubernetes.io/instance": "wave" } },
      policyTypes: ["Ingress"],
      ingress: [
        { ports: [{ port: 9443 }], from: apiServers },
        { ports: [{ port: 8080 }], from: scrapers },
      ],
    });
  });

  it("permits all sources to reach the webhook by default, and none to reach the metrics without scrapers", async () => {
    const spec = await policy({ scrapers: [] }, "webhooks.enabled=true");
    expect(spec).toMatchObject({ ingress: [{ ports: [{ port: 9443 }] }] });
    expect(await policy({ scrapers: [] })).not.toHaveProperty("ingress");
  });

  it("limits egress if egress is set", async () => {
    const egress = [{ to: apiServers, ports: [{ port: 6443 }] }];
    expect(await policy({ egress })).toMatchObject({ policyTypes: ["Ingress", "Egress"], egress });
    const gated = (await policy({ egress }, "gate.prometheusUrl=http://prometheus:9090")) as { egress: unknown[] };
    expect(gated.egress).toEqual([...egress, { ports: expect.arrayContaining([{ port: 9090, protocol: "TCP" }]) }]);
  });

  it("is of a Deployment that mounts the Secret of the alert gate", async () => {
    const gate = {
      prometheusUrl: "https://prometheus:9090",
      prometheusTokenFile: "/gate/token",
      existingSecret: "prom",
    };
    const { spec } = only("Deployment", await rendered(cluster, { gate })) as never as {
      readonly spec: {
        readonly template: { readonly spec: { readonly containers: object[]; readonly volumes: object[] } };
      };
    };
    const { containers, volumes } = spec.template.spec;
    expect(volumes).toContainEqual({ name: "gate", secret: { secretName: "prom" } });
    expect(containers[0]).toMatchObject({
      args: expect.arrayContaining([
        "--gate-prometheus-url=https://prometheus:9090",
        "--gate-prometheus-token-file=/gate/token",
      ]),
      volumeMounts: [{ name: "gate", mountPath: "/gate", readOnly: true }],
    });
  });
});

function inDefault(manifest: object): string {
  return JSON.stringify(manifest).replaceAll('"namespace":"wave-system"', '"namespace":"default"');
}
