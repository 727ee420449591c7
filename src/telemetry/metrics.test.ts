import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MetricsRegistry } from "./metrics.ts";
import { parseExposition } from "./parse-exposition.ts";
import { addProcessMetrics } from "./process-metrics.ts";

describe("the registry", () => {
  it("renders every type as Prometheus reads it, in the order of the names", () => {
    const registry = new MetricsRegistry();
    const rollouts = registry.counter("wave_rollouts_total", "Rollouts.", ["kind", "outcome"]);
    rollouts.inc({ outcome: "written", kind: "Deployment" });
    rollouts.inc({ kind: "Deployment", outcome: "written" }, 2);
    registry.gauge("wave_leader", "1 while this replica leads.").set(1);
    const seconds = registry.histogram("wave_seconds", "Seconds.", [0.1, 1]);
    for (const value of [0.05, 0.1, 0.5, 7]) seconds.observe(value);
    expect(registry.render()).toBe(
      [
        "# HELP wave_leader 1 while this replica leads.",
        "# TYPE wave_leader gauge",
        "wave_leader 1",
        "# HELP wave_rollouts_total Rollouts.",
        "# TYPE wave_rollouts_total counter",
        'wave_rollouts_total{kind="Deployment",outcome="written"} 3',
        "# HELP wave_seconds Seconds.",
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

  it("shows a metric without labels before anything happened, and one with labels without a sample", () => {
    const registry = new MetricsRegistry();
    registry.counter("a_total", "A.");
    registry.counter("b_total", "B.", ["kind"]);
    registry.histogram("c", "C.", [1]);
    const families = parseExposition(registry.render());
    expect(families.get("a_total")?.samples).toEqual([{ name: "a_total", labels: {}, value: 0 }]);
    expect(families.get("b_total")?.samples).toEqual([]);
    expect(families.get("c")?.samples.map((sample) => sample.value)).toEqual([0, 0, 0, 0]);
  });

  it("gives a strict parser back the labels and help texts that it was given, whatever they hold, but those that are empty", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "\\", '"', "\n", ",", "}", "=", "é", "n", " ") });
    fc.assert(
      fc.property(text, text, text, (help, first, second) => {
        const registry = new MetricsRegistry();
        registry.gauge("g", help, ["a", "b"]).set(5, { a: first, b: second });
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
        const histogram = registry.histogram("h", "H.", bounds, ["kind"]);
        for (const value of values) histogram.observe(value, { kind: "a" });
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

  it("asks for what is collected once at each rendering", () => {
    const registry = new MetricsRegistry();
    const depth = registry.gauge("depth", "D.");
    let asked = 0;
    depth.collect(() => {
      asked += 1;
      depth.set(asked * 10);
    });
    registry.render();
    expect(parseExposition(registry.render()).get("depth")?.samples[0]?.value).toBe(20);
    expect(asked).toBe(2);
  });

  it("gives the same metric to everybody who asks for its name", () => {
    const registry = new MetricsRegistry();
    registry.counter("x_total", "X.", ["a"]).inc({ a: "1" });
    registry.counter("x_total", "X.", ["a"]).inc({ a: "1" });
    expect(parseExposition(registry.render()).get("x_total")?.samples[0]?.value).toBe(2);
  });

  it.each([
    { wrong: "another type", call: (r: MetricsRegistry) => r.gauge("x_total", "X.", ["a"]) },
    { wrong: "other labels", call: (r: MetricsRegistry) => r.counter("x_total", "X.", ["b"]) },
    { wrong: "a missing label", call: (r: MetricsRegistry) => r.counter("x_total", "X.", ["a"]).inc() },
    { wrong: "an extra label", call: (r: MetricsRegistry) => r.counter("x_total", "X.", ["a"]).inc({ a: "", b: "" }) },
    {
      wrong: "a counter going down",
      call: (r: MetricsRegistry) => r.counter("x_total", "X.", ["a"]).inc({ a: "" }, -1),
    },
    { wrong: "a bad name", call: (r: MetricsRegistry) => r.counter("x-total", "X.") },
    { wrong: "a reserved label", call: (r: MetricsRegistry) => r.counter("y_total", "X.", ["le"]) },
    { wrong: "unordered buckets", call: (r: MetricsRegistry) => r.histogram("h", "H.", [2, 1]) },
  ])("refuses $wrong", ({ call }) => {
    const registry = new MetricsRegistry();
    registry.counter("x_total", "X.", ["a"]);
    expect(() => call(registry)).toThrow(/x_total|x-total|le is|buckets/);
  });
});

describe("the process's metrics", () => {
  it("tell memory, CPU time, start and version under the usual names", () => {
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

  it("tell the longest wait for the event loop since the last scrape, and forget it then", async () => {
    const registry = new MetricsRegistry();
    addProcessMetrics(registry, "1.2.3");
    const delay = () =>
      parseExposition(registry.render()).get("wave_event_loop_delay_seconds")?.samples[0]?.value ?? Number.NaN;
    await expect.poll(() => blockedFor(200, delay), { timeout: 10_000 }).toBeGreaterThan(0.1);
    expect(delay()).toBeLessThan(0.1);
  });
});

/** What `measure` says after the event loop was kept busy. */
async function blockedFor(ms: number, measure: () => number): Promise<number> {
  const until = performance.now() + ms;
  while (performance.now() < until);
  await new Promise((resolve) => setTimeout(resolve, 50));
  return measure();
}
