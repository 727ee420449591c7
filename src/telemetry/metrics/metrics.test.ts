import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseExposition } from "../../../test/support/parse-exposition.ts";
import { catalogue } from "../catalogue.ts";
import { addProcessMetrics } from "../process-metrics.ts";
import { MetricsRegistry } from "./metrics.ts";
import { counter, gauge, histogram, type MetricRow } from "./series.ts";

const rollouts = counter("wave_rollouts_total", {
  help: "Rollouts",
  labels: { kind: "each kind", outcome: { written: "it was written", failed: "it was not" } },
});

describe("the registry", () => {
  it("renders every type as Prometheus reads it, in the order of the names", () => {
    const registry = new MetricsRegistry();
    const counted = registry.counter(rollouts);
    counted.inc({ outcome: "written", kind: "Deployment" });
    counted.inc({ kind: "Deployment", outcome: "written" }, 2);
    registry.gauge(gauge("wave_leader", { help: "1 while this replica leads" })).set(1);
    const seconds = registry.histogram(histogram("wave_seconds", { help: "Seconds", buckets: [0.1, 1] }));
    for (const value of [0.05, 0.1, 0.5, 7]) seconds.observe(value);
    expect(registry.render()).toBe(
      [
        "# HELP wave_leader 1 while this replica leads",
        "# TYPE wave_leader gauge",
        "wave_leader 1",
        "# HELP wave_rollouts_total Rollouts",
        "# TYPE wave_rollouts_total counter",
        'wave_rollouts_total{kind="Deployment",outcome="written"} 3',
        "# HELP wave_seconds Seconds",
        "# TYPE wave_seconds histogram",
        'wave_seconds_bucket{le="0.1"} 2',
        'wave_seconds_bucket{le="1"} 3',
        'wave_seconds_bucket{le="+Inf"} 4',
        "wave_seconds_sum 7.65",
        "wave_seconds_count 4",
        "",
      ].join("\n"),
    );
  });

  it("shows every series whose labels are known before anything happened, also those that the run knows", () => {
    const registry = new MetricsRegistry();
    registry.counter(counter("a_total", { help: "A" }));
    registry.counter(rollouts, { kind: ["Deployment"] });
    registry.counter(rollouts, { kind: ["DaemonSet"] }).inc({ kind: "DaemonSet", outcome: "failed" });
    registry.gauge(gauge("b", { help: "B", labels: { version: "the version" } }));
    registry.histogram(histogram("c", { help: "C", buckets: [1], labels: { to: ["x", "y"] } }));
    const families = parseExposition(registry.render());
    const shown = (name: string) => families.get(name)?.samples.map(({ labels, value }) => ({ ...labels, value }));
    expect(shown("a_total")).toEqual([{ value: 0 }]);
    expect(shown("wave_rollouts_total")).toEqual([
      { kind: "Deployment", outcome: "written", value: 0 },
      { kind: "Deployment", outcome: "failed", value: 0 },
      { kind: "DaemonSet", outcome: "written", value: 0 },
      { kind: "DaemonSet", outcome: "failed", value: 1 },
    ]);
    expect(shown("b")).toEqual([]);
    expect(families.get("c")?.samples.filter(({ name }) => name === "c_count")).toHaveLength(2);
  });

  it("can be parsed by a strict parser, with the same labels and help texts, except empty ones", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "\\", '"', "\n", ",", "}", "=", "é", "n", " ") });
    fc.assert(
      fc.property(text, text, text, (help, first, second) => {
        const registry = new MetricsRegistry();
        registry.gauge(gauge("g", { help, labels: { a: "any", b: "any" } })).set(5, { a: first, b: second });
        const labels = { ...(first && { a: first }), ...(second && { b: second }) };
        expect(parseExposition(registry.render()).get("g")).toEqual({
          type: "gauge",
          help,
          samples: [{ name: "g", labels, value: 5 }],
        });
      }),
    );
  });

  it("counts each observation in every bucket whose bound it does not exceed", () => {
    const bounds = [0.001, 0.01, 0.1, 1, 10];
    fc.assert(
      fc.property(fc.array(fc.double({ min: -1, max: 100, noNaN: true }), { minLength: 1 }), (values) => {
        const registry = new MetricsRegistry();
        const seconds = registry.histogram(histogram("h", { help: "H", buckets: bounds, labels: { kind: "any" } }));
        for (const value of values) seconds.observe(value, { kind: "a" });
        const samples = parseExposition(registry.render()).get("h")?.samples ?? [];
        const expected = [...bounds, Infinity].map((bound) => values.filter((value) => value <= bound).length);
        expect(samples.slice(0, -2).map((sample) => sample.value)).toEqual(expected);
        expect(samples.slice(0, -2).map((sample) => sample.labels.le)).toEqual([...bounds.map(String), "+Inf"]);
        const sum = values.reduce((total, value) => total + value, 0);
        expect(samples.slice(-2)).toEqual([
          { name: "h_sum", labels: { kind: "a" }, value: sum === 0 ? expect.closeTo(0) : sum },
          { name: "h_count", labels: { kind: "a" }, value: values.length },
        ]);
      }),
    );
  });

  it("refreshes collected values once for each rendering", () => {
    const registry = new MetricsRegistry();
    const depth = registry.gauge(gauge("depth", { help: "D" }));
    let asked = 0;
    depth.collect(() => {
      asked += 1;
      depth.set(asked * 10);
    });
    registry.render();
    expect(parseExposition(registry.render()).get("depth")?.samples[0]?.value).toBe(20);
    expect(asked).toBe(2);
  });

  it("returns the same metric for the same row", () => {
    const registry = new MetricsRegistry();
    registry.counter(rollouts).inc({ kind: "a", outcome: "failed" });
    registry.counter(rollouts).inc({ kind: "a", outcome: "failed" });
    expect(parseExposition(registry.render()).get("wave_rollouts_total")?.samples[0]?.value).toBe(2);
  });

  it.each([
    {
      wrong: "the name of another row",
      call: (r: MetricsRegistry) => r.gauge(gauge("wave_rollouts_total", { help: "X" })),
    },
    { wrong: "a missing label", call: (r: MetricsRegistry) => r.counter(rollouts).inc() },
    { wrong: "an extra label", call: (r: MetricsRegistry) => r.counter(rollouts).inc(extraLabel) },
    { wrong: "a value that the row has not", call: (r: MetricsRegistry) => r.counter(rollouts).inc(wrongValue) },
    {
      wrong: "a counter going down",
      call: (r: MetricsRegistry) => r.counter(rollouts).inc({ kind: "", outcome: "failed" }, -1),
    },
  ])("refuses $wrong", ({ call }) => {
    const registry = new MetricsRegistry();
    registry.counter(rollouts);
    expect(() => call(registry)).toThrow(/wave_rollouts_total/);
  });
});

const extraLabel = { kind: "a", outcome: "failed" as const, other: "b" };
const wrongValue = { kind: "a", outcome: "toString" as "failed" };

describe("the catalogue", () => {
  const rows: readonly MetricRow[] = Object.values(catalogue).flatMap((each) => Object.values(each));

  // https://prometheus.io/docs/concepts/data_model/#metric-names-and-labels
  it.each(rows)("has a valid name, valid labels and ascending buckets in $name", ({ name, labels, buckets = [] }) => {
    expect(name).toMatch(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/);
    for (const label of Object.keys(labels)) expect(label).toMatch(/^(?!__|le$|quantile$)[a-zA-Z_][a-zA-Z0-9_]*$/);
    expect(buckets.every(Number.isFinite)).toBe(true);
    expect([...new Set(buckets)].sort((a, b) => a - b)).toEqual(buckets);
  });
});

describe("the process's metrics", () => {
  it("report memory, CPU time, start and version with the usual names", () => {
    const registry = new MetricsRegistry();
    addProcessMetrics(registry, "1.2.3");
    const value = (name: string) => parseExposition(registry.render()).get(name)?.samples[0]?.value ?? Number.NaN;
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(10 * 2 ** 20);
    expect(value("nodejs_heap_size_used_bytes")).toBeLessThan(value("process_resident_memory_bytes"));
    expect(Math.abs(value("process_start_time_seconds") - (Date.now() / 1000 - process.uptime()))).toBeLessThan(5);
    const before = value("process_cpu_seconds_total");
    expect(before).toBeGreaterThan(0);
    expect(value("process_cpu_seconds_total")).toBeGreaterThan(before);
    expect(parseExposition(registry.render()).get("wave_build_info")?.samples).toEqual([
      { name: "wave_build_info", labels: { version: "1.2.3" }, value: 1 },
    ]);
  });

  it("report the longest delay of the event loop since the last scrape, and reset it then", async () => {
    const registry = new MetricsRegistry();
    addProcessMetrics(registry, "1.2.3");
    const delay = () =>
      parseExposition(registry.render()).get("wave_event_loop_delay_seconds")?.samples[0]?.value ?? Number.NaN;
    await expect.poll(() => blockedFor(200, delay)).toBeGreaterThan(0.1);
    await expect.poll(delay).toBeLessThan(0.1);
  });
});

/** The result of `measure` after a block of the event loop. */
async function blockedFor(ms: number, measure: () => number): Promise<number> {
  const until = performance.now() + ms;
  while (performance.now() < until);
  await new Promise((resolve) => setTimeout(resolve, 50));
  return measure();
}
