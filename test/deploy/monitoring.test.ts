import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { panelRows } from "../../deploy/values/dashboard-panels.ts";
import { holdReasons } from "../../src/domain/pacing/holds.ts";
import { catalogue } from "../../src/telemetry/catalogue.ts";
import { knownValues, type MetricRow } from "../../src/telemetry/metrics/series.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { chart, deploymentIn, type Manifest, ofKind, only, rendered } from "./rendered.ts";

const file = (name: string) => readFileSync(join(chart, "files", name), "utf8");

describe("alerts and dashboard", () => {
  it("use only existing metrics, labels and label values", () => {
    const rows = new Map<string, MetricRow>(
      Object.values(catalogue).flatMap((each) => Object.values(each).map((row) => [row.name, row])),
    );
    const asked = `${file("alerts.yaml")}${file("dashboard.json").replaceAll('\\"', '"')}`;
    const names = Array.from(asked.matchAll(/\bwave_[a-z_]+/g), ([name]) => name.replace(/_(bucket|sum|count)$/, ""));
    expect(names.filter((name) => !rows.has(name))).toEqual([]);
    for (const [, name = "", label = "", used = ""] of asked.matchAll(
      /(wave_\w+)\{(?:cluster=~"\$cluster",)?(?:namespace=~"\$namespace",)?(\w+)(?:=~?|!=)"([^"$]+)"/g,
    )) {
      const values = rows.get(name)?.labels[label] ?? "";
      const known = knownValues(values) ?? (/\bhold\b/.test(`${values}`) ? holdReasons : []);
      for (const value of used.split("|")) expect(known, `${name}{${label}}`).toContain(value);
    }
  });
});

it("the description of a panel adds to the help of the metric", () => {
  const helps = Object.values(catalogue).flatMap((each) => Object.values(each).map(({ help }) => help));
  const described = panelRows.flatMap(({ panels }) => panels.map(({ description }) => description));
  expect(described.filter((description) => helps.some((help) => help.includes(description)))).toEqual([]);
  expect(new Set(described).size).toBe(described.length);
});

describeOnControlPlane("the chart's monitoring", (cluster) => {
  it("is off by default", async () => {
    const kinds = (await rendered(cluster)).map(({ kind }) => kind);
    for (const kind of ["Service", "ServiceMonitor", "PodMonitor", "PrometheusRule", "ConfigMap"])
      expect(kinds).not.toContain(kind);
  });

  it.for([
    ["serviceMonitor", "ServiceMonitor", "endpoints"],
    ["podMonitor", "PodMonitor", "podMetricsEndpoints"],
  ] as const)("has a %s that finds Wave's port of metrics", async ([value, kind, endpoints]) => {
    const monitor = { labels: { release: "prometheus" }, interval: "30s", relabelings: [{ action: "labeldrop" }] };
    const metrics = { [value]: { enabled: true }, monitor };
    const manifests = await rendered(cluster, { metrics }, "webhooks.enabled=true");
    const { metadata, spec } = only<Monitor>(kind, manifests);
    expect(metadata.labels).toMatchObject({ release: "prometheus", "app.kubernetes.io/name": "wave" });
    const { relabelings } = monitor;
    expect(spec[endpoints]).toEqual([{ port: "metrics", path: "/metrics", interval: "30s", relabelings }]);
    const pod = deploymentIn(manifests).spec.template;
    const services = ofKind("Service", manifests) as readonly Service[];
    const candidates =
      kind === "PodMonitor"
        ? [{ labels: pod.metadata.labels, ports: pod.spec.containers[0].ports }]
        : services.map((service) => ({ labels: service.metadata.labels, ports: service.spec.ports }));
    const chosen = candidates.filter(({ labels }) =>
      Object.entries(spec.selector.matchLabels).every(([key, each]) => labels?.[key] === each),
    );
    // One target for each replica, and not the Service of the webhook as well.
    expect(chosen.map(({ ports }) => ports?.some(({ name }) => name === "metrics"))).toEqual([true]);
  });

  it("installs the alerts and the dashboard of the files", async () => {
    const metrics = {
      prometheusRule: { enabled: true, labels: { role: "alerts" } },
      dashboard: { enabled: true, annotations: { folder: "Wave" } },
    };
    const manifests = await rendered(cluster, { metrics });
    const [rule] = ofKind("PrometheusRule", manifests);
    // Without links, because the chart of the work tree names no repository.
    expect(rule).toMatchObject({ metadata: { labels: { role: "alerts" } } });
    expect(rule?.spec).toEqual(parse(file("alerts.yaml")));
    const runbooks = "https://wave.example/docs/alerts";
    const linked = await rendered(cluster, { metrics: { prometheusRule: { enabled: true, runbooks } } });
    const { spec } = only<Manifest & { spec: { groups: { rules: { annotations: Record<string, string> }[] }[] } }>(
      "PrometheusRule",
      linked,
    );
    expect(spec.groups[0]?.rules[0]?.annotations).toMatchObject({ runbook_url: `${runbooks}#wavehasnoleader` });
    const dashboard = only<Manifest & { data: Record<string, string> }>("ConfigMap", manifests);
    expect(dashboard.metadata).toMatchObject({ labels: { grafana_dashboard: "1" }, annotations: { folder: "Wave" } });
    expect(JSON.parse(dashboard.data["wave.json"] ?? "")).toEqual(JSON.parse(file("dashboard.json")));
  });
});

interface Monitor extends Manifest {
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly [endpoints: string]: unknown;
  };
}

interface Service extends Manifest {
  readonly spec: { readonly ports: readonly { readonly name: string }[] };
}
