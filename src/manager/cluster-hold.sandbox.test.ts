import { describe, expect, it, onTestFinished } from "vitest";
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

const own = "/api/v1/namespaces/wave-system";
const hold = "wave.pusher.com/hold-cluster";

/** Starts a Wave in namespace "wave-system" of a cluster with Deployment "web" in namespace "default", which has no hash yet. */
async function start(flags: readonly string[], onWave: Readonly<Record<string, string>>) {
  const sandbox = await startSandbox({ controllers: false });
  const { client } = clientOf(sandbox.url);
  const create = (path: string, body: object) => client.request({ method: "POST", path, body });
  await create("/api/v1/namespaces", { metadata: { name: "wave-system", annotations: onWave } });
  await create("/api/v1/namespaces/default/configmaps", { metadata: { name: "web" }, data: { a: "1" } });
  const containers = [{ name: "web", image: "nginx", envFrom: [{ configMapRef: { name: "web" } }] }];
  const { metadata, ...web } = workloadObject({ pod: { containers } });
  const deployments = "/apis/apps/v1/namespaces/default/deployments";
  await create(deployments, { ...web, metadata: { name: "web", annotations: metadata?.annotations } });
  const settings = parseRunArguments(["--metrics-bind-address=0", "--settle=0", ...flags], {
    POD_NAMESPACE: "wave-system",
  });
  const server = new URL(sandbox.url);
  const config = { server, source: "a test", tls: unchanging({ insecure: false }), credentials: fixedCredentials() };
  const metrics = new MetricsRegistry();

  const run = async () => {
    const dependencies = { clock: systemClock, log: silentLogger, metrics, version: "0", identity: "test" };
    const assembly = await assemble({ ...settings, leaderElection: undefined }, config, dependencies);
    const stop = new AbortController();
    const running = runAssembly(assembly, {
      log: silentLogger,
      signal: stop.signal,
      onFailure: (error) => stop.abort(error),
    });
    const end = async () => {
      stop.abort();
      await running;
    };
    return { assembly, end };
  };
  let wave = await run();
  onTestFinished(async () => {
    await wave.end();
    await client.close();
    await sandbox.close();
  });
  return {
    sandbox,
    problem: () => wave.assembly.caches.problem(),
    isSynced: () => eventually(() => expect(wave.assembly.caches.synced).toBe(true)),
    restart: async () => {
      await wave.end();
      wave = await run();
    },
    annotateWave: (value: string | null) =>
      client.request({ method: "PATCH", path: own, body: { metadata: { annotations: { [hold]: value } } } }),
    edit: (value: string) =>
      client.request({
        method: "PATCH",
        path: "/api/v1/namespaces/default/configmaps/web",
        body: { data: { a: value } },
      }),
    metric: () => metrics.render().match(/^wave_cluster_hold (\d)$/m)?.[1],
    hash: async () => {
      const object = await client.request<KubeObject & WorkloadObject>({ method: "GET", path: `${deployments}/web` });
      return object.spec?.template?.metadata?.annotations?.["wave.pusher.com/config-hash"];
    },
    heldEvent: () =>
      eventually(() => {
        const bodies = sandbox.requests.filter(({ verb, resource }) => verb === "create" && resource === "events");
        expect(bodies.length).toBeGreaterThan(0);
      }),
  };
}

describe("a hold of every rollout", () => {
  it.each([
    ["all namespaces", []],
    ["one other namespace", ["--namespaces=default"]],
  ])("stops a Wave that watches %s, survives a restart, and ends when it is released", async (_, flags) => {
    const wave = await start(flags, { [hold]: "INC-12" });
    await wave.isSynced();
    await wave.heldEvent();
    expect([await wave.hash(), wave.metric()]).toEqual([undefined, "1"]);
    await wave.restart();
    await wave.isSynced();
    expect(await wave.hash()).toBeUndefined();
    await wave.annotateWave(null);
    await eventually(async () => expect(await wave.hash()).toMatch(/^v2/));
    expect(wave.metric()).toBe("0");
  });

  it("begins at once while Wave runs", async () => {
    const wave = await start([], {});
    await eventually(async () => expect(await wave.hash()).toMatch(/^v2/));
    const before = await wave.hash();
    await wave.annotateWave("INC-12");
    await eventually(() => expect(wave.metric()).toBe("1"));
    await wave.edit("2");
    await wave.heldEvent();
    expect(await wave.hash()).toBe(before);
    await wave.annotateWave(null);
    await eventually(async () => expect(await wave.hash()).not.toBe(before));
  });

  it("lets nothing roll as long as its Namespace cannot be read", async () => {
    const wave = await start(["--namespaces=default"], { [hold]: "INC-12" });
    // Wave watches its Namespace, or reads it if it may not watch it.
    const isOwn = (url: string) => decodeURIComponent(url).includes("metadata.name=wave-system");
    wave.sandbox.faults.add({
      match: ({ path, query }) => path === own || isOwn(`${query}`),
      action: { type: "status", status: 403 },
    });
    await wave.restart();
    await eventually(() => expect(wave.problem()).toMatch(/403|forbidden/i));
    expect(await wave.hash()).toBeUndefined();
    wave.sandbox.faults.clear();
    await wave.isSynced();
    expect(await wave.hash()).toBeUndefined();
  });
});
