import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess, wave as waveCommand } from "../control-plane/wave-process.ts";
import { makeNamespace } from "../end-to-end/objects.ts";
import { hashOf, makeApplications } from "../pacing/applications.ts";
import { startPrometheus } from "./prometheus.ts";
import { missingPrometheus } from "./promtool.ts";

/** Starts a Prometheus with an alert `Errors` of a namespace, which fires as long as `state` says so. */
async function startAlert(namespace: string) {
  const state = { fires: true };
  const target = createServer((_, response) => response.end(`errors ${state.fires ? 1 : 0}\n`)).listen(0, "127.0.0.1");
  await new Promise((resolve) => target.once("listening", resolve));
  const labels = { wave_gate: "halt", namespace, secret: "never-shown" };
  const rules = stringify({ groups: [{ name: "gate", rules: [{ alert: "Errors", expr: "errors > 0", labels }] }] });
  const prometheus = await startPrometheus({ port: (target.address() as AddressInfo).port }, rules);
  const stop = async () => {
    await prometheus.stop();
    target.closeAllConnections();
    target.close();
  };
  const fire = async (fires: boolean) => {
    state.fires = fires;
    await until(`the alert ${fires ? "to fire" : "to end"}`, async () =>
      (await prometheus.firing()).has("Errors") === fires ? true : undefined,
    );
  };
  return { url: prometheus.url, fire, stop };
}

/** Resolves when nothing waits, rolls or soaks: then there is no query for longer than the time between two queries. */
async function idle(wave: WaveProcess): Promise<void> {
  let [queries, since] = ["", 0];
  await until("no more queries", async () => {
    const [now = ""] = /^wave_gate_queries_total\{result="answered"\} \d+$/m.exec(await wave.metrics()) ?? [];
    if (now !== queries) [queries, since] = [now, performance.now()];
    return performance.now() - since > 20_000 ? true : undefined;
  });
}

describeOnControlPlane("the alert gate", (cluster) => {
  const missing = missingPrometheus();
  const eventsIn = async (ns: string) =>
    (await cluster.list(`/api/v1/namespaces/${ns}/events`)) as unknown as readonly {
      readonly reason: string;
      readonly message: string;
      readonly involvedObject: { readonly kind: string };
    }[];
  const event = (ns: string, reason: string, text: string) =>
    until(`an Event ${reason} with ${text}`, async () =>
      (await eventsIn(ns)).find((each) => each.reason === reason && each.message.includes(text)),
    );

  it.skipIf(missing !== undefined)(
    "holds while an alert fires, halts if one begins during the soak, and stays halted when it is resolved and Wave restarts",
    async () => {
      const ns = "alert-gate";
      const namespace = await makeNamespace(cluster, ns);
      const alert = await startAlert(ns);
      onTestFinished(alert.stop);
      const applications = await makeApplications(cluster, namespace, 3);
      onTestFinished(applications.stop);
      const gate = [`--gate-prometheus-url=${alert.url}`, "--soak=45s"];
      const args = ["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`, ...gate];
      await alert.fire(false);
      const before = await startWave(args, { paced: true });
      const logs = [before.log];
      try {
        const first = await applications.onlyHash();
        await applications.complete();
        await idle(before);

        await alert.fire(true);
        await namespace.edit("ConfigMap", "shared", { edit: "1" });
        await event(ns, "RolloutHeld", 'alert "Errors" fires in namespace "alert-gate"');
        expect([...(await applications.hashes()).keys()]).toEqual([first]);
        expect(await before.metrics()).toContain('wave_held_workloads{reason="alert"}');

        await alert.fire(false);
        await until("the canary", async () => ((await applications.hashes()).get(first) === 2 ? true : undefined));
        await applications.complete();
        await alert.fire(true);
        await event(ns, "RolloutFailed", 'alert "Errors" began to fire');
        await until("the annotation", async () =>
          (await applications.list()).find(({ metadata }) => metadata.annotations?.["wave.pusher.com/failed-alert"]),
        );
      } finally {
        await before.stop();
      }

      await alert.fire(false);
      const after = await startWave(args, { paced: true });
      logs.push(after.log);
      try {
        await event(ns, "RolloutHalted", "halted");
        const [canary] = (await applications.list()).filter(
          ({ metadata }) => metadata.annotations?.["wave.pusher.com/failed-alert"],
        );
        const run = (...words: readonly string[]) =>
          promisify(execFile)(waveCommand, [...words, "-n", ns, "--kubeconfig", cluster.kubeconfig]).catch(
            (error: { readonly stdout: string }) => error,
          );
        const listed = await run("list", "-o", "wide");
        expect(listed.stdout).toMatch(new RegExp(`${canary?.metadata.name} +failed`));
        expect(listed.stdout.match(/halted/g)?.length).toBeGreaterThanOrEqual(2);
        expect((await applications.list()).map(hashOf).filter((hash) => hash !== hashOf(canary as never))).toHaveLength(
          2,
        );
        await run("resume", "configmap/shared");
        await applications.onlyHash();
        for (const log of logs) expect(log()).not.toContain("never-shown");
        for (const { message } of await eventsIn(ns)) expect(message).not.toContain("never-shown");
      } finally {
        await after.stop();
      }
    },
  );

  it.skipIf(missing !== undefined)(
    "warns and goes on after two minutes without Prometheus, and holds if it is required",
    async () => {
      const gone = "http://127.0.0.1:1";
      const scenes = await Promise.all(
        ["gate-optional", "gate-required"].map(async (ns) => {
          const namespace = await makeNamespace(cluster, ns);
          const applications = await makeApplications(cluster, namespace, 1);
          onTestFinished(applications.stop);
          const lease = ["--leader-election", `--leader-election-namespace=${ns}`, "--leader-election-id=wave"];
          const args = ["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`, `--gate-prometheus-url=${gone}`];
          const required = ns === "gate-required" ? ["--gate-required"] : [];
          const wave = await startWave([...args, ...lease, ...required], { paced: true });
          onTestFinished(async () => void (await wave.stop()));
          return { ns, applications, wave };
        }),
      );
      const warnings = scenes.map(({ ns }) =>
        until(
          `the Event on the Lease in ${ns}`,
          async () => (await eventsIn(ns)).find(({ reason }) => reason === "AlertsUnknown"),
          200_000,
        ),
      );
      const [goesOn, holds] = await Promise.all(warnings);
      expect(goesOn?.involvedObject.kind).toBe("Lease");
      expect(goesOn?.message).toContain("Rollouts continue without the alert gate.");
      expect(holds?.message).toContain("Rollouts wait, because --gate-required is set.");
      expect(await scenes[0]?.applications.onlyHash()).not.toBe("none");
      await event("gate-required", "RolloutHeld", "Prometheus does not answer whether an alert fires");
      expect([...((await scenes[1]?.applications.hashes()) ?? []).keys()]).toEqual(["none"]);
      for (const { wave } of scenes) expect(await wave.metrics()).toContain("\nwave_gate_prometheus_answers 0\n");
    },
  );
});
