import { expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../sandbox/sandbox.ts";
import { workloadObject } from "../../test/support/domain/objects.ts";
import { eventually } from "../../test/support/eventually.ts";
import { clientOf } from "../../test/support/kube/client.ts";
import { parseRunArguments } from "../cli/run/run-arguments.ts";
import type { WorkloadObject } from "../domain/model/workload-references.ts";
import type { KubeObject } from "../kube/api/resources.ts";
import { fixedCredentials, unchanging } from "../kube/config/credentials.ts";
import { systemClock } from "../lib/clock.ts";
import { silentLogger } from "../telemetry/logging/log.ts";
import { MetricsRegistry } from "../telemetry/metrics/metrics.ts";
import { assemble } from "./assemble.ts";
import { runAssembly } from "./run-assembly.ts";

it("writes no hash before the hash key is known", async () => {
  const sandbox = await startSandbox({ controllers: false });
  const { client } = clientOf(sandbox.url);
  const secret = "/api/v1/namespaces/default/secrets/wave-hash-key";
  sandbox.faults.add({ match: ({ path }) => path === secret, action: { type: "status", status: 403 } });
  const namespaced = "/api/v1/namespaces/default";
  const deployments = "/apis/apps/v1/namespaces/default/deployments";
  const page = { metadata: { name: "web" }, data: { a: "1" } };
  await client.request({ method: "POST", path: `${namespaced}/configmaps`, body: page });
  const containers = [{ name: "web", image: "nginx", envFrom: [{ configMapRef: { name: "web" } }] }];
  const { metadata, ...web } = workloadObject({ pod: { containers } });
  const body = { ...web, metadata: { name: "web", annotations: metadata?.annotations } };
  // Without it, the API server takes the field manager from the user agent, which is that of Wave.
  await client.request({ method: "POST", path: deployments, query: { fieldManager: "test" }, body });

  const settings = parseRunArguments(["--hash-key-secret=default/wave-hash-key", "--metrics-bind-address=0"], {});
  const config = {
    server: new URL(sandbox.url),
    source: "a test",
    tls: unchanging({ insecure: false }),
    credentials: fixedCredentials(),
  };
  const dependencies = { clock: systemClock, log: silentLogger, metrics: new MetricsRegistry(), version: "0" };
  const assembly = await assemble(settings, config, { ...dependencies, identity: "test" });
  const stop = new AbortController();
  const onFailure = (error: unknown) => stop.abort(error);
  const running = runAssembly(assembly, { log: silentLogger, signal: stop.signal, onFailure });
  onTestFinished(async () => {
    stop.abort();
    await running;
    await client.close();
    await sandbox.close();
  });

  const writes = () => sandbox.requests.filter(({ verb }) => verb === "patch").length;
  await eventually(() => expect(assembly.hashKeys?.problem()).toContain("403"));
  await eventually(() => expect(assembly.caches.synced).toBe(true));
  expect(writes()).toBe(0);
  sandbox.faults.clear();
  const recorded = async () => {
    const object = await client.request<KubeObject & WorkloadObject>({ method: "GET", path: `${deployments}/web` });
    return object.spec?.template?.metadata?.annotations?.["wave.pusher.com/config-hash"];
  };
  await eventually(async () => expect(await recorded()).toMatch(/^v2-/));
  expect(writes()).toBe(1);
});
