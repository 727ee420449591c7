import {
  BucketSeries,
  escapeHelp,
  knownValues,
  type Labels,
  type LabelsOf,
  type MetricRow,
  NumberSeries,
  type RuntimeLabelValues,
  type Series,
} from "./series.ts";

/** A number that only grows, from 0 at the start of the process. */
export interface Counter<L = Labels> {
  /** Adds `by`, default 1. Throws a RangeError for a negative number. */
  inc(labels?: L, by?: number): void;
  /** Calls `refresh` before each rendering, for a count that is kept elsewhere. */
  collect(refresh: () => void): void;
}

/** A number that goes up and down. */
interface Gauge<L = Labels> {
  set(value: number, labels?: L): void;
  /** Calls `refresh` before each rendering, for a value that is computed on demand. */
  collect(refresh: () => void): void;
}

/** Cumulative counts of observations by upper bound, their number and their sum. */
export interface Histogram<L = Labels> {
  observe(value: number, labels?: L): void;
}

interface Registered<T> {
  readonly row: MetricRow;
  readonly series: Series;
  readonly refresh: (() => void)[];
  readonly face: T;
}

/**
 * The metrics of one process in Prometheus' text format 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format). Each is declared by its row of the
 * {@link catalogue}. All series with known label values exist from then on, at 0, so that `rate` and `increase` include the first
 * occurrence. `ofRun` has values that are known only at runtime, if they are known in advance.
 *
 * The same name returns the same metric. Another row with the same name throws, as do invalid Prometheus names and undeclared
 * labels: these are bugs.
 */
export class MetricsRegistry {
  readonly #metrics = new Map<string, Registered<unknown>>();

  /** Registers a counter. `inc` throws a RangeError for a negative number. */
  counter<R extends MetricRow & { readonly type: "counter" }>(
    row: R,
    ofRun: RuntimeLabelValues<R> = {},
  ): Counter<LabelsOf<R>> {
    return this.#once(row, ofRun, (refresh) => {
      const series = new NumberSeries(row);
      const inc = (labels: Labels = {}, by = 1) => {
        if (!(by >= 0)) throw new RangeError(`counter ${row.name} cannot go down by ${by}`);
        series.add(labels, by);
      };
      return { series, face: { inc, collect: (ask) => refresh.push(ask) } };
    });
  }

  gauge<R extends MetricRow & { readonly type: "gauge" }>(
    row: R,
    ofRun: RuntimeLabelValues<R> = {},
  ): Gauge<LabelsOf<R>> {
    return this.#once(row, ofRun, (refresh) => {
      const series = new NumberSeries(row);
      const set = (value: number, labels: Labels = {}) => series.set(labels, value);
      return { series, face: { set, collect: (ask) => refresh.push(ask) } };
    });
  }

  histogram<R extends MetricRow & { readonly type: "histogram" }>(
    row: R,
    ofRun: RuntimeLabelValues<R> = {},
  ): Histogram<LabelsOf<R>> {
    return this.#once(row, ofRun, () => {
      const series = new BucketSeries(row);
      return { series, face: { observe: (value, labels: Labels = {}) => series.observe(labels, value) } };
    });
  }

  /** Renders all metrics with their current values, sorted by name. */
  render(): string {
    for (const { refresh } of this.#metrics.values()) for (const ask of refresh) ask();
    const lines: string[] = [];
    for (const [name, { row, series }] of [...this.#metrics].sort(([a], [b]) => (a < b ? -1 : 1))) {
      lines.push(`# HELP ${name} ${escapeHelp(row.help)}`, `# TYPE ${name} ${row.type}`, ...series.lines());
    }
    return `${lines.join("\n")}\n`;
  }

  #once<T>(
    row: MetricRow,
    ofRun: Readonly<Record<string, readonly string[] | undefined>>,
    make: (refresh: (() => void)[]) => { readonly series: Series; readonly face: T },
  ): T {
    const known = this.#metrics.get(row.name);
    if (known !== undefined && known.row !== row) throw new Error(`metric ${row.name} was declared by another row`);
    const registered = known ?? register(row, make);
    this.#metrics.set(row.name, registered);
    for (const labels of combinations(row, ofRun)) registered.series.begin(labels);
    return registered.face as T;
  }
}

function register<T>(
  row: MetricRow,
  make: (refresh: (() => void)[]) => { readonly series: Series; readonly face: T },
): Registered<T> {
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(row.name)) throw new Error(`${row.name} is not a metric's name`);
  for (const label of Object.keys(row.labels))
    if (!/^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/.test(label) || label === "le" || label === "quantile")
      throw new Error(`${label} is not a label's name`);
  const refresh: (() => void)[] = [];
  return { row, refresh, ...make(refresh) };
}

/** Returns the labels of all series that are known in advance; none if the values of a label are unknown. */
function combinations(row: MetricRow, ofRun: Readonly<Record<string, readonly string[] | undefined>>): Labels[] {
  return Object.entries(row.labels).reduce<Labels[]>(
    (before, [label, values]) => {
      const known = knownValues(values) ?? ofRun[label] ?? [];
      return before.flatMap((labels) => known.map((value) => ({ ...labels, [label]: value })));
    },
    [{}],
  );
}
