import { reads, startScene } from "../../admission/admitted.ts";
import { connect } from "../../control-plane/cluster.ts";
import { missingControlPlane, startControlPlane } from "../../control-plane/control-plane.ts";
import { until } from "../../control-plane/wave-process.ts";
import { workload } from "../../end-to-end/objects.ts";
import { type Dashboard, selectingAll } from "../../monitoring/dashboard.ts";
import { type Prometheus, type Range, type Series, startPrometheus } from "../../monitoring/prometheus.ts";
import { missingPrometheus } from "../../monitoring/promtool.ts";
import { makeApplications } from "../../pacing/applications.ts";

/** What Prometheus returns for each query of the dashboard in a time range. */
export interface DashboardRun {
  readonly range: Range;
  /** The series by the query of the dashboard. */
  readonly series: ReadonlyMap<string, readonly Series[]>;
}

const count = 40;

/** Undefined if this machine has the programs of {@link runDashboard}; otherwise one line with what is missing. */
export function missingForDashboard(): string | undefined {
  return missingControlPlane() ?? missingPrometheus();
}

/**
 * Returns the data of the dashboard in a run of Wave on a real control plane, which a real Prometheus scrapes: 40 Deployments roll after a
 * good edit, another Deployment waits for a missing ConfigMap, and the canary of a bad edit fails, so that Wave halts the others.
 */
export async function runDashboard({ panels }: Dashboard): Promise<DashboardRun> {
  await using ends = new AsyncDisposableStack();
  const plane = ends.adopt(await startControlPlane(), ({ stop }) => stop());
  const cluster = ends.adopt(connect(plane), ({ close }) => close());
  const leading = ["--leader-election", "--leader-election-namespace=shop", "--leader-election-id=wave"];
  const paced = ["--settle=1s", "--soak=5s", "--rollout-timeout=20s", "--max-concurrent-rollouts=8"];
  const { namespace, wave } = await startScene(cluster, "shop", { webhooks: true, args: [...leading, ...paced] });
  ends.defer(async () => {
    await wave.stop();
  });
  const prometheus = ends.adopt(await startPrometheus({ port: wave.ports.metrics }, "groups: []"), ({ stop }) =>
    stop(),
  );
  const start = Math.floor(Date.now() / 1000);
  const applications = ends.adopt(await makeApplications(cluster, namespace, count), ({ stop }) => stop());
  await isSo(prometheus, `sum(wave_workloads{state="current"}) == ${count + 1}`);
  await applications.free();
  await namespace.edit("ConfigMap", "shared", { edit: "1" });
  await isSo(prometheus, `sum(wave_outcomes_total{outcome="roll"}) == ${count}`);
  await applications.free();
  await namespace.create(workload("waits", reads("missing")));
  await namespace.edit("ConfigMap", "shared", { state: "bad" });
  await isSo(prometheus, "min_over_time(sum(wave_rollouts_halted)[12s:1s]) == 1");
  const end = Math.floor(Date.now() / 1000);
  const range = { start, end, step: 2 };
  const series = new Map<string, readonly Series[]>();
  for (const { expr } of panels.flatMap(({ targets = [] }) => targets))
    series.set(expr, await prometheus.queryRange(selectingAll(expr), range));
  return { range, series };
}

function isSo(prometheus: Prometheus, condition: string): Promise<true> {
  return until(condition, async () => ((await prometheus.query(condition)).length > 0 ? true : undefined));
}
