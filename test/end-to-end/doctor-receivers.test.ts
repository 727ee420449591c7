import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { toRunningWave } from "../../src/cli/cluster/running-wave/running-wave.ts";
import { checkReceivers } from "../../src/cli/doctor/checks/receivers.ts";
import type { DoctorContext } from "../../src/cli/doctor/context/doctor-context.ts";
import { loadClusterConfig } from "../../src/kube/config/cluster-config.ts";
import { createApiClient } from "../../src/kube/http/client.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { notificationMetrics } from "../../src/telemetry/catalogue/notifications.ts";
import { MetricsRegistry } from "../../src/telemetry/metrics/metrics.ts";
import { makeAccount } from "../control-plane/accounts.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { temporaryFiles } from "../support/kube/files.ts";
import { container, makeNamespace } from "./objects.ts";

const ns = "receivers";

/** The API server reaches a Pod by its address, without a kubelet, but not by an address of this machine alone. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === "IPv4" && !each.internal)?.address;

describeOnControlPlane("wave doctor, for the receivers of a Wave in a Pod,", (cluster) => {
  const registry = new MetricsRegistry();
  const server = createServer((request, response) =>
    response
      .writeHead(request.url === "/metrics" ? 200 : 404, { "content-type": "text/plain; version=0.0.4" })
      .end(registry.render()),
  );

  beforeAll(async () => {
    const notifications = registry.counter(notificationMetrics.notifications, { receiver: ["dead"] });
    notifications.inc({ receiver: "dead", result: "failed" }, 3);
    await once(server.listen(0, address), "listening");
    await makeNamespace(cluster, ns);
    const pods = `/api/v1/namespaces/${ns}/pods`;
    const metadata = { name: "wave-0", labels: { app: "wave" } };
    await cluster.api("POST", pods, { metadata, spec: { schedulerName: "none", containers: [container] } });
    const status = { phase: "Running", podIP: address, podIPs: [{ ip: address }] };
    await cluster.api("PATCH", `${pods}/wave-0/status`, { status }, "application/merge-patch+json");
  });
  afterAll(() => server.close());

  const check = async (kubeconfig: string) => {
    const config = await loadClusterConfig({ kubeconfigFlag: kubeconfig, env: {}, homeDir: undefined });
    const client = createApiClient({ config, clock: systemClock, userAgent: "test" });
    const { port } = server.address() as AddressInfo;
    const args = ["run", `--metrics-bind-address=:${port}`, "--notify=/notify/notify.yaml"];
    const wave = toRunningWave({
      metadata: { name: "wave", namespace: ns },
      spec: {
        selector: { matchLabels: { app: "wave" } },
        template: { spec: { containers: [{ ...container, name: "wave", args }] } },
      },
      status: { readyReplicas: 1 },
    } as never);
    try {
      const { found } = await checkReceivers({ cluster: { client }, watching: [wave] } as unknown as DoctorContext);
      return found.map(({ severity, what, fix }) => ({ severity, what, fix }));
    } finally {
      await client.close();
    }
  };

  it("reads the metrics of each Pod through the API server", async () => {
    expect(await check(cluster.kubeconfig)).toEqual([
      {
        severity: "problem",
        what: 'Receiver "dead" of --notify accepted 0 of 3 notifications since Wave started.',
        fix: `kubectl logs -n ${ns} pod/wave-0`,
      },
    ]);
  });

  it("reports a missing permission", async () => {
    const rule = { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] };
    const files = await temporaryFiles({ kubeconfig: await makeAccount(cluster, ns, "reader", rule) });
    expect(await check(join(files, "kubeconfig"))).toEqual([
      {
        severity: "unchecked",
        what: `Receivers were not checked. You do not have permission to get pods/proxy in ${ns}.`,
        fix: null,
      },
    ]);
  });
});
