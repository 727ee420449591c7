import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { stringify } from "yaml";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until } from "../control-plane/wave-process.ts";
import { type ChartAccount, chartAccount } from "../deploy/chart-account.ts";
import { container, makeNamespace, type Namespace, workload } from "./objects.ts";
import { newHash, recordedHash, waveEvents } from "./state.ts";

describeOnControlPlane("Wave with --notify", (cluster) => {
  const ns = "notifications";
  const folder = mkdtempSync(join(tmpdir(), "wave-notifications-"));
  const messages: string[] = [];
  let namespace: Namespace;
  let account: ChartAccount;
  let endpoint: Server;

  beforeAll(async () => {
    namespace = await makeNamespace(cluster, ns);
    account = await chartAccount(cluster, ns, `namespaces={${ns}}`);
    endpoint = createServer(async (request, response) => {
      messages.push(await text(request));
      response.end();
    });
    await once(endpoint.listen(0, "127.0.0.1"), "listening");
    const { port } = endpoint.address() as AddressInfo;
    writeFileSync(join(folder, "slack-url"), `http://127.0.0.1:${port}/services/T0P-S3CR3T\n`);
    // Not "complete": Wave reports the end of a rollout only if it has seen the rollout in progress.
    const outcomes = ["waiting", "firstHash", "roll"];
    const receiver = { name: "on-call", type: "slack", urlFile: "slack-url", outcomes, perMinute: 600 };
    writeFileSync(join(folder, "notify.yaml"), stringify({ receivers: [receiver] }));
  });
  afterAll(async () => {
    endpoint?.close();
    endpoint?.closeAllConnections();
    await account?.remove();
    rmSync(folder, { recursive: true });
    expect(account?.forbidden()).toEqual([]);
  });

  const start = () =>
    startWave(["--kubeconfig", account.kubeconfig, `--namespaces=${ns}`, `--notify=${join(folder, "notify.yaml")}`]);
  const message = (part: string) =>
    until(`a message with ${part}`, async () => messages.find((each) => each.includes(part)));

  it("reports a missing object and a rollout once, also after a restart, and shows no value and no URL", async () => {
    const envFrom = [{ secretRef: { name: "db" } }];
    await namespace.create(workload("api", { containers: [{ ...container, envFrom }] }));
    const wave = await start();
    await message('Deployment notifications/api: Waiting for Secret \\"db\\". Running Pods are not changed.');
    await namespace.secret("db", { password: "v4lue-1" });
    const first = await newHash(cluster, ns, "Deployment", "api");
    await message("Added the configuration hash");
    await namespace.edit("Secret", "db", { password: "v4lue-2" });
    await newHash(cluster, ns, "Deployment", "api", first);
    await message('Rollout started: Secret \\"db\\" changed (key \\"password\\").');
    await until("three to be counted", async () =>
      (await wave.metrics()).includes('wave_notifications_total{receiver="on-call",result="sent"} 3\n')
        ? true
        : undefined,
    );
    await namespace.create(
      workload("waits", { containers: [{ ...container, envFrom: [{ configMapRef: { name: "page" } }] }] }),
    );
    await message("notifications/waits: Waiting for ConfigMap");
    await wave.stop();

    const again = await start();
    await until("the Event to be told again", async () =>
      (await waveEvents(cluster, ns, "waits")).find(({ count = 1 }) => count > 1),
    );
    const before = await recordedHash(cluster, ns, "Deployment", "api");
    await namespace.edit("Secret", "db", { password: "v4lue-3" });
    await newHash(cluster, ns, "Deployment", "api", before);
    await until("the last roll to be told", async () => (messages.length === 5 ? true : undefined));
    await again.stop();
    expect(messages.filter((each) => each.includes("waits"))).toHaveLength(1);
    for (const told of [...messages, wave.log(), again.log()]) {
      expect(told).not.toContain("v4lue");
      expect(told).not.toContain("S3CR3T");
      expect(told).not.toContain(Buffer.from("v4lue").toString("base64").slice(0, 6));
    }
  });
});
