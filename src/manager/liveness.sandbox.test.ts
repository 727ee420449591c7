import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../sandbox/sandbox.ts";
import { temporaryFiles } from "../../test/support/kube/files.ts";
import { listen } from "../../test/support/kube/server.ts";
import { parseRunArguments } from "../cli/run/run-arguments.ts";
import { systemClock } from "../lib/clock.ts";
import { silentLogger } from "../telemetry/logging/log.ts";
import { runManager } from "./manager.ts";

it("a Wave without leader election is restarted if the API server has refused its credentials for 5 minutes", async () => {
  const sandbox = await startSandbox();
  const folder = await temporaryFiles({ kubeconfig: JSON.stringify(sandbox.kubeconfig()) });
  const free = await listen(createServer());
  await free.close();
  const ports = ["--metrics-bind-address=0", `--health-probe-bind-address=127.0.0.1:${free.port}`];
  const settings = parseRunArguments(
    [`--kubeconfig=${join(folder, "kubeconfig")}`, ...ports, "--leader-election=false"],
    {},
  );
  let passedMs = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + passedMs };
  const ending = new AbortController();
  const about = { clock, log: silentLogger, env: {}, homeDir: folder, version: "0", signal: ending.signal };
  const ended = runManager(settings, about);
  onTestFinished(async () => {
    ending.abort();
    await ended;
    await sandbox.close();
  });
  const probe = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${free.port}${path}`).catch(() => undefined);
    return [answer?.status, await answer?.text()];
  };
  await expect.poll(() => probe("/readyz")).toContain(200);
  expect(await probe("/healthz")).toEqual([200, "ok"]);

  sandbox.faults.add({ match: () => true, action: { type: "status", status: 401 } });
  sandbox.dropConnections();
  const refused = () => sandbox.requests.filter(({ status }) => status === 401).length;
  await expect.poll(refused).toBeGreaterThan(0);
  expect(await probe("/healthz")).toEqual([200, "ok"]);
  passedMs += 300_000;
  await expect.poll(() => probe("/healthz")).toEqual([503, expect.stringMatching(/^api-server: no request to .* 401/)]);
  sandbox.faults.clear();
  await expect.poll(() => probe("/healthz")).toEqual([200, "ok"]);
});
