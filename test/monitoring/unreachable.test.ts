import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until } from "../control-plane/wave-process.ts";
import { makeNamespace } from "../end-to-end/objects.ts";
import { startTcpProxy } from "../high-availability/tcp-proxy.ts";

const ns = "unreachable";

describeOnControlPlane("an API server that is gone", (cluster) => {
  it("is reported by a gauge and more than once in 25 s by the log, once for all watches, and its return once", async () => {
    await makeNamespace(cluster, ns);
    const text = readFileSync(cluster.kubeconfig, "utf8");
    const server = text.match(/server: "?(https:[^"},\s]+)/)?.[1] ?? "";
    const proxy = await startTcpProxy(new URL(server));
    const folder = mkdtempSync(join(tmpdir(), "wave-unreachable-"));
    writeFileSync(join(folder, "config"), text.replace(server, `https://127.0.0.1:${proxy.port}`));
    // Only the watches send requests, because there is no leader election.
    const wave = await startWave(["--kubeconfig", join(folder, "config"), `--namespaces=${ns}`]);
    onTestFinished(async () => {
      await wave.stop();
      proxy.close();
      rmSync(folder, { recursive: true });
    });
    const reachable = async () => Number(/^wave_api_server_reachable (\d)$/m.exec(await wave.metrics())?.[1]);
    const lines = (what: RegExp) =>
      wave
        .log()
        .split("\n")
        .filter((line) => what.test(line));
    expect(await reachable()).toBe(1);

    proxy.cut();
    const cutAt = performance.now();
    const told = /the API server does not respond; until it responds, Wave rolls nothing/;
    await until("two lines", async () => (lines(told).length >= 2 ? true : undefined), 50_000);
    expect(performance.now() - cutAt).toBeLessThan(25_000);
    expect(await reachable()).toBe(0);
    expect(lines(/cannot watch/)).toEqual([]);

    proxy.mend();
    await until("the end", async () => ((await reachable()) === 1 ? true : undefined));
    expect(lines(/the API server responds again/)).toHaveLength(1);
  });
});
