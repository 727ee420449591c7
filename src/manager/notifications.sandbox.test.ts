import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../sandbox/sandbox.ts";
import { workloadObject } from "../../test/support/domain/objects.ts";
import { eventually } from "../../test/support/eventually.ts";
import { clientOf } from "../../test/support/kube/client.ts";
import { kubeconfigOf, temporaryFiles } from "../../test/support/kube/files.ts";
import { type Answer, startEndpoint } from "../../test/support/notify/endpoint.ts";
import { parseRunArguments } from "../cli/run/run-arguments.ts";
import type { WorkloadObject } from "../domain/model/workload-references.ts";
import type { KubeObject } from "../kube/api/resources.ts";
import { systemClock } from "../lib/clock.ts";
import { silentLogger } from "../telemetry/logging/log.ts";
import { runManager } from "./manager.ts";

const core = "/api/v1/namespaces/default";
const deployments = "/apis/apps/v1/namespaces/default/deployments";

/** Starts a cluster and an endpoint with these answers. `run` starts a replica that notifies the endpoint of these outcomes. */
async function start(answers: Answer[], outcomes: readonly string[]) {
  const sandbox = await startSandbox({ controllers: false });
  const { client } = clientOf(sandbox.url);
  onTestFinished(async () => {
    await client.close();
    await sandbox.close();
  });
  const { url, received } = await startEndpoint(answers);
  const receiver = { name: "test", type: "webhook", url, outcomes, text: "{{outcome}} {{name}}" };
  const folder = await temporaryFiles({
    kubeconfig: kubeconfigOf({ cluster: { server: sandbox.url } }),
    "notify.json": JSON.stringify({ receivers: [receiver] }),
  });

  const run = (...flags: readonly string[]) => {
    const files = [`--kubeconfig=${join(folder, "kubeconfig")}`, `--notify=${join(folder, "notify.json")}`];
    const off = [
      "--metrics-bind-address=0",
      "--health-probe-bind-address=0",
      "--settle=0",
      "--max-concurrent-rollouts=0",
    ];
    const settings = parseRunArguments([...files, ...off, ...flags], {});
    const ending = new AbortController();
    const about = { clock: systemClock, log: silentLogger, env: {}, homeDir: folder, version: "0" };
    const ended = runManager(settings, { ...about, signal: ending.signal });
    const stop = () => {
      ending.abort();
      return ended;
    };
    onTestFinished(stop);
    return stop;
  };

  const texts = () => received.map(({ body }) => (body as { text: string }).text);
  const configMap = (name: string, a: string) => ({ metadata: { name }, data: { a } });
  const create = (name: string, a: string) =>
    client.request({ method: "POST", path: `${core}/configmaps`, body: configMap(name, a) });
  const edit = (name: string, a: string) =>
    client.request({ method: "PATCH", path: `${core}/configmaps/${name}`, body: { data: { a } } });
  const deploy = (name: string, reads: string) => {
    const containers = [{ name: "web", image: "nginx", envFrom: [{ configMapRef: { name: reads } }] }];
    const { metadata, ...rest } = workloadObject({ pod: { containers } });
    const body = { ...rest, metadata: { name, annotations: metadata?.annotations } };
    return client.request({ method: "POST", path: deployments, body });
  };
  const hashes = async () => {
    const { items } = await client.request<{ items: (KubeObject & WorkloadObject)[] }>({
      method: "GET",
      path: deployments,
    });
    return items.map(({ spec }) => spec?.template?.metadata?.annotations?.["wave.pusher.com/config-hash"]);
  };
  const eventCounts = async (reason: string) => {
    const { items } = await client.request<{ items: (KubeObject & { reason: string; count: number })[] }>({
      method: "GET",
      path: `${core}/events`,
    });
    return items.filter((event) => event.reason === reason).map(({ count }) => count);
  };
  return { run, create, edit, deploy, hashes, eventCounts, texts };
}

it("does not delay rollouts when an endpoint never answers", async () => {
  const { run, create, edit, deploy, hashes, texts } = await start(Array(100).fill("never"), ["roll"]);
  await create("page", "1");
  for (let index = 0; index < 30; index++) await deploy(`web-${index}`, "page");
  run();
  const rolledTo = async (before: readonly unknown[]) => {
    const now = await hashes();
    expect(new Set(now)).toHaveProperty("size", 1);
    expect(now[0]).toBeDefined();
    expect(before).not.toContain(now[0]);
    return now;
  };
  let before = await eventually(() => rolledTo([undefined]));
  for (const value of ["2", "3", "4"]) {
    await edit("page", value);
    before = await eventually(() => rolledTo(before));
  }
  // The first message is still in flight, or was sent again.
  expect(new Set(texts()).size).toBe(1);
});

it("sends notifications from the leader only, and a new leader does not repeat existing problems", async () => {
  const { run, create, edit, deploy, eventCounts, texts } = await start([], ["waiting", "roll"]);
  await deploy("waits", "missing");
  const timings = ["lease-duration=6s", "namespace=default"];
  const replica = () => run("--leader-election", ...timings.map((timing) => `--leader-election-${timing}`));
  const stopLeader = replica();
  await eventually(() => expect(texts()).toEqual(["waiting waits"]));
  replica();
  await create("page", "1");
  await deploy("web", "page");
  await eventually(async () => expect(await eventCounts("ConfigRecorded")).toEqual([1]));
  await stopLeader();
  await eventually(async () => expect(await eventCounts("ConfigMissing")).toEqual([2]));
  await edit("page", "2");
  await eventually(() => expect(texts()).toEqual(["waiting waits", "roll web"]));
});
