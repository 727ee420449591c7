import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../sandbox/sandbox.ts";
import { commandScene } from "../../test/support/cli/commands.ts";
import { eventually } from "../../test/support/eventually.ts";
import { kubeconfigOf, temporaryFiles } from "../../test/support/kube/files.ts";
import { hostileOutput, marker, startHostileProxy } from "../../test/support/kube/hostile-proxy.ts";
import { startEndpoint } from "../../test/support/notify/endpoint.ts";
import { parseRunArguments } from "../cli/run/run-arguments.ts";
import { policyAnnotations } from "../domain/policy/policy-rows.ts";
import { systemClock } from "../lib/clock.ts";
import { outcomeNames } from "../notify/notification/notification.ts";
import { createLogger, logFormats } from "../telemetry/logging/log.ts";
import { runManager } from "./manager.ts";

const namespace = `shop-${marker}`;
const hostileAnnotations = Object.fromEntries(
  policyAnnotations.map((each) => [`wave.pusher.com/${each}`, `1 ${marker}`]),
);

/** Starts a cluster whose names are hostile, and Wave. Returns what Wave prints, notifies and writes into Events. */
async function start(format: (typeof logFormats)[number]) {
  const sandbox = await startSandbox();
  const proxy = await startHostileProxy(sandbox.url);
  const { url, received } = await startEndpoint();
  const folder = await temporaryFiles({
    kubeconfig: kubeconfigOf({ cluster: { server: proxy.url } }),
    "notify.json": JSON.stringify({
      receivers: [{ name: "test", type: "webhook", url, outcomes: outcomeNames }],
    }),
  });
  const files = [`--kubeconfig=${join(folder, "kubeconfig")}`, `--notify=${join(folder, "notify.json")}`];
  const ports = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
  const settings = parseRunArguments([...files, ...ports, "--settle=0", "--max-concurrent-rollouts=0"], {});
  const lines: string[] = [];
  const log = createLogger({ format, level: "debug", clock: systemClock, write: (line) => void lines.push(line) });
  const ending = new AbortController();
  const about = { clock: systemClock, log, env: {}, homeDir: folder, version: "0" };
  const ended = runManager(settings, { ...about, signal: ending.signal });
  onTestFinished(async () => {
    ending.abort();
    await ended;
    await proxy.close();
    await sandbox.close();
  });
  const events = async () => {
    const answer = await fetch(`${sandbox.url}/api/v1/namespaces/${namespace}/events`);
    const { items } = (await answer.json()) as { items: { reason: string; message: string; source: object }[] };
    return items.filter(({ source }) => JSON.stringify(source).includes("wave"));
  };
  return { scene: commandScene(sandbox, namespace), proxy, lines, received, events };
}

/** Returns every text in a value. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

describe.each(logFormats)("Wave among hostile names, with a log as %s", (format) => {
  it("writes no characters of others that a terminal executes into log, Events and notifications", async () => {
    const { scene, proxy, lines, received, events } = await start(format);
    const { createConfigMap, createWorkload, editConfigMap, merge } = scene;
    await scene.createNamespace(namespace);
    await createConfigMap("page", "1");
    const envFrom = [{ configMapRef: { name: "page" } }];
    await createWorkload(`deployments/web-${marker}`, { envFrom });
    await createWorkload(`statefulsets/odd-${marker}`, { envFrom, annotations: hostileAnnotations });
    await createWorkload(`daemonsets/waits-${marker}`, { envFrom: [{ secretRef: { name: `gone-${marker}` } }] });
    const reasons = async () => (await events()).map(({ reason }) => reason);
    await eventually(async () => expect(await reasons()).toEqual(expect.arrayContaining(["ConfigMissing"])));
    await eventually(async () => expect(received.length).toBeGreaterThan(0));
    await merge("configmaps/page", { data: { [`${marker}-key`]: "2" } }, `someone-${marker}`);
    await eventually(async () => expect(await reasons()).toEqual(expect.arrayContaining(["ConfigChanged"])));
    proxy.rejects = ({ method, path }) => (method === "PATCH" && path.includes("deployments") ? 403 : undefined);
    await editConfigMap("page", "3");
    await eventually(() => expect(lines.some((line) => line.includes("rejected"))).toBe(true));
    const messages = (await events()).map(({ message }) => message);
    const texts = [
      ...lines.map((line) => line.trimEnd()),
      ...messages,
      ...received.flatMap(({ body }) => textsIn(body)),
    ];
    for (const text of texts)
      expect(hostileOutput.exec(text)?.[0] ?? text.match(/\n/)?.[0], JSON.stringify(text)).toBeUndefined();
    // The proxy would have turned the hostile text of an Event into the marker again.
    expect(messages.filter((message) => message.includes(marker))).toEqual([]);
    for (const all of [lines, messages, received.map(({ body }) => JSON.stringify(body))])
      expect(all.join("")).toContain("EVIL");
  });
});
