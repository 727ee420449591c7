import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { reads, type Scene, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { chart } from "../deploy/rendered.ts";
import { workload } from "../end-to-end/objects.ts";
import { newHash } from "../end-to-end/state.ts";
import { readDashboard, selectingAll } from "./dashboard.ts";
import { type Prometheus, startPrometheus } from "./prometheus.ts";
import { missingPrometheus } from "./promtool.ts";

const ns = "monitored";

/** The alerts of the chart, with waiting times of seconds instead of minutes. */
const hasty = readFileSync(join(chart, "files/alerts.yaml"), "utf8")
  .replaceAll(/for: \d+m/g, "for: 2s")
  .replace("> 900", "> 2");

const queries = readDashboard().panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => [title, selectingAll(expr)] as const),
);

describeOnControlPlane("a Wave that Prometheus scrapes", (cluster) => {
  const missing = missingPrometheus();
  let scene: Scene;
  let prometheus: Prometheus;
  beforeAll(async () => {
    if (missing !== undefined) return;
    scene = await startScene(cluster, ns, {
      webhooks: true,
      args: ["--leader-election", `--leader-election-namespace=${ns}`, "--leader-election-id=wave"],
    });
    prometheus = await startPrometheus({ port: scene.wave.ports.metrics }, hasty);
  });
  afterAll(async () => {
    await prometheus?.stop();
    await scene?.wave.stop();
  });

  it.skipIf(missing !== undefined)("has data for every query of the dashboard", async () => {
    await scene.caughtUp();
    await until("a second scrape", async () =>
      (await prometheus.query("rate(wave_leader[10s])")).length > 0 ? true : undefined,
    );
    expect(queries.length).toBeGreaterThan(25);
    for (const [title, expr] of queries)
      await until(`data for "${title}": ${expr}`, async () =>
        (await prometheus.query(expr)).length > 0 ? true : undefined,
      );
    // The first leader of a cluster acts after 15 s.
    await until("no alert", async () => ((await prometheus.firing()).size === 0 ? true : undefined));
  });

  it.skipIf(missing !== undefined)(
    "has an alert while a workload waits for a missing object, and no alert after the object is created",
    async () => {
      await scene.namespace.create(workload("waits", reads("missing")));
      const alert = await until("the alert", async () => (await prometheus.firing()).get("WaveWorkloadWaitsTooLong"));
      expect(alert.labels).toMatchObject({ severity: "warning", namespace: "wave-system", state: "waiting" });
      expect(alert.annotations).toMatchObject({
        summary: expect.stringMatching(/^A workload has not been rolled for \d/),
      });
      await scene.namespace.configMap("missing", { a: "1" });
      await newHash(cluster, ns, "Deployment", "waits");
      await until("its end", async () => ((await prometheus.firing()).size === 0 ? true : undefined));
    },
  );

  it.skipIf(missing !== undefined)("has an alert when no Wave is left", async () => {
    await scene.wave.stop();
    const alert = await until("the alert", async () => (await prometheus.firing()).get("WaveHasNoLeader"));
    expect(alert.labels).toMatchObject({ severity: "critical" });
  });
});
