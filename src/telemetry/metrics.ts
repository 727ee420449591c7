/** A metric's labels of one time series. Exactly the names that the metric was declared with. */
export type Labels = Readonly<Record<string, string>>;

/** A number that only grows, from 0 at the start of the process. */
export interface Counter {
  /** Adds `by`, 1 unless given. Throws a RangeError for less than 0. */
  inc(labels?: Labels, by?: number): void;
  /** Calls `refresh` before each rendering: for what is counted elsewhere. */
  collect(refresh: () => void): void;
}

/** A number that goes up and down. */
export interface Gauge {
  set(value: number, labels?: Labels): void;
  /** Calls `refresh` before each rendering: for what is cheaper to ask for than to keep. */
  collect(refresh: () => void): void;
}

/** How many observations were at most each of the buckets' bounds, their number and their sum. */
export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

interface Metric {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly refresh: (() => void)[];
  readonly lines: () => Iterable<string>;
}

interface Registered<T> {
  readonly metric: Metric;
  readonly face: T;
}

/**
 * The metrics of one process in Prometheus' text format 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
 * Asking for a name twice returns the same metric; asking for it with another type or other labels throws, as do names
 * that Prometheus does not allow and labels that were not declared: those are bugs.
 */
export class MetricsRegistry {
  readonly #counters = new Map<string, Registered<Counter>>();
  readonly #gauges = new Map<string, Registered<Gauge>>();
  readonly #histograms = new Map<string, Registered<Histogram>>();

  counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    return this.#once(this.#counters, name, labelNames, () => {
      const series = new NumberSeries(name, labelNames);
      const inc = (labels: Labels = {}, by = 1) => {
        if (!(by >= 0)) throw new RangeError(`counter ${name} cannot go down by ${by}`);
        series.add(labels, by);
      };
      const metric: Metric = { type: "counter", help, labelNames, refresh: [], lines: () => series.lines() };
      return { metric, face: { inc, collect: (refresh) => metric.refresh.push(refresh) } };
    });
  }

  gauge(name: string, help: string, labelNames: readonly string[] = []): Gauge {
    return this.#once(this.#gauges, name, labelNames, () => {
      const series = new NumberSeries(name, labelNames);
      const metric: Metric = { type: "gauge", help, labelNames, refresh: [], lines: () => series.lines() };
      const set = (value: number, labels: Labels = {}) => series.set(labels, value);
      return { metric, face: { set, collect: (refresh) => metric.refresh.push(refresh) } };
    });
  }

  /** `buckets` are upper bounds, ascending; the one of infinity is added. */
  histogram(name: string, help: string, buckets: readonly number[], labelNames: readonly string[] = []): Histogram {
    return this.#once(this.#histograms, name, labelNames, () => {
      const series = new BucketSeries(name, labelNames, buckets);
      const metric: Metric = { type: "histogram", help, labelNames, refresh: [], lines: () => series.lines() };
      return { metric, face: { observe: (value, labels = {}) => series.observe(labels, value) } };
    });
  }

  /** Every metric with its present values, in the order of their names. */
  render(): string {
    const all = new Map<string, { readonly metric: Metric }>([...this.#counters, ...this.#gauges, ...this.#histograms]);
    for (const { metric } of all.values()) for (const refresh of metric.refresh) refresh();
    const lines: string[] = [];
    for (const name of [...all.keys()].sort()) {
      const metric = all.get(name)?.metric;
      if (metric === undefined) continue;
      lines.push(`# HELP ${name} ${escapeHelp(metric.help)}`, `# TYPE ${name} ${metric.type}`, ...metric.lines());
    }
    return `${lines.join("\n")}\n`;
  }

  #once<T>(known: Map<string, Registered<T>>, name: string, labels: readonly string[], make: () => Registered<T>): T {
    const before = known.get(name);
    if (before !== undefined) {
      if (before.metric.labelNames.join() === labels.join()) return before.face;
      throw new Error(`metric ${name} has the labels [${before.metric.labelNames}], asked for with [${labels}]`);
    }
    if (this.#counters.has(name) || this.#gauges.has(name) || this.#histograms.has(name))
      throw new Error(`metric ${name} already exists with another type`);
    if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name)) throw new Error(`${name} is not a metric's name`);
    for (const label of labels)
      if (!/^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/.test(label) || label === "le" || label === "quantile")
        throw new Error(`${label} is not a label's name`);
    const made = make();
    known.set(name, made);
    return made.face;
  }
}

/** The series of a counter or gauge, by their labels as they are rendered. One without labels starts at 0. */
class NumberSeries {
  readonly #name: string;
  readonly #labelNames: readonly string[];
  readonly #values = new Map<string, number>();

  constructor(name: string, labelNames: readonly string[]) {
    this.#name = name;
    this.#labelNames = labelNames;
    if (labelNames.length === 0) this.#values.set("", 0);
  }

  set(labels: Labels, value: number): void {
    this.#values.set(renderLabels(this.#name, this.#labelNames, labels), value);
  }

  add(labels: Labels, by: number): void {
    const key = renderLabels(this.#name, this.#labelNames, labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + by);
  }

  *lines(): Iterable<string> {
    for (const [labels, value] of this.#values) yield `${this.#name}${labels && `{${labels}}`} ${renderNumber(value)}`;
  }
}

/** The series of a histogram: counts per bucket, not yet cumulated, the last one for what is above every bound. */
class BucketSeries {
  readonly #name: string;
  readonly #labelNames: readonly string[];
  readonly #bounds: readonly number[];
  readonly #values = new Map<string, { readonly counts: Float64Array; sum: number }>();

  constructor(name: string, labelNames: readonly string[], bounds: readonly number[]) {
    if (bounds.some((bound, index) => !Number.isFinite(bound) || bound <= (bounds[index - 1] ?? -Infinity)))
      throw new Error(`the buckets of ${name} are not finite and ascending: ${bounds}`);
    this.#name = name;
    this.#labelNames = labelNames;
    this.#bounds = bounds;
    if (labelNames.length === 0) this.#series({});
  }

  observe(labels: Labels, value: number): void {
    const series = this.#series(labels);
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = found === -1 ? this.#bounds.length : found;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
  }

  *lines(): Iterable<string> {
    for (const [labels, { counts, sum }] of this.#values) {
      const before = labels && `${labels},`;
      let cumulated = 0;
      for (const [index, count] of counts.entries()) {
        cumulated += count;
        yield `${this.#name}_bucket{${before}le="${renderNumber(this.#bounds[index] ?? Infinity)}"} ${cumulated}`;
      }
      yield `${this.#name}_sum${labels && `{${labels}}`} ${renderNumber(sum)}`;
      yield `${this.#name}_count${labels && `{${labels}}`} ${cumulated}`;
    }
  }

  #series(labels: Labels): { readonly counts: Float64Array; sum: number } {
    const key = renderLabels(this.#name, this.#labelNames, labels);
    let series = this.#values.get(key);
    if (series === undefined) {
      series = { counts: new Float64Array(this.#bounds.length + 1), sum: 0 };
      this.#values.set(key, series);
    }
    return series;
  }
}

function renderLabels(name: string, labelNames: readonly string[], labels: Labels): string {
  if (Object.keys(labels).length !== labelNames.length || labelNames.some((label) => labels[label] === undefined))
    throw new Error(`metric ${name} has the labels [${labelNames}], used with [${Object.keys(labels)}]`);
  // A label without a value is none (https://prometheus.io/docs/concepts/data_model/#metric-names-and-labels).
  const given = labelNames.filter((label) => labels[label] !== "");
  return given.map((label) => `${label}="${escapeLabel(labels[label] ?? "")}"`).join(",");
}

function renderNumber(value: number): string {
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}

function escapeHelp(text: string): string {
  return text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n");
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replace(/"/g, '\\"');
}
