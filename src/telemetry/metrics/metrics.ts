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

/**
 * The metrics of one process in Prometheus' text format 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format). Each is declared by its row of the
 * {@link catalogue}. All series with known label values exist from then on, at 0, so that `rate` and `increase` include the first
 * occurrence. `ofRun` has values that are known only at runtime, if they are known in advance.
 *
 * The same name returns the same metric. Another row with the same name throws, as do undeclared labels: these are bugs.
 */
export class MetricsRegistry {
  readonly #metrics = new Map<string, Series>();

  counter<R extends MetricRow & { readonly type: "counter" }>(
    row: R,
    ofRun: RuntimeLabelValues<R> = {},
  ): Counter<LabelsOf<R>> {
    return this.#once(row, ofRun, NumberSeries);
  }

  gauge<R extends MetricRow & { readonly type: "gauge" }>(
    row: R,
    ofRun: RuntimeLabelValues<R> = {},
  ): Gauge<LabelsOf<R>> {
    return this.#once(row, ofRun, NumberSeries);
  }

  histogram<R extends MetricRow & { readonly type: "histogram" }>(
    row: R,
    ofRun: RuntimeLabelValues<R> = {},
  ): Histogram<LabelsOf<R>> {
    return this.#once(row, ofRun, BucketSeries);
  }

  /** Renders all metrics with their current values, sorted by name. */
  render(): string {
    for (const series of this.#metrics.values()) series.refresh();
    const lines: string[] = [];
    for (const [name, series] of [...this.#metrics].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const { help, type } = series.row;
      lines.push(`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`, ...series.lines());
    }
    return `${lines.join("\n")}\n`;
  }

  #once<S extends Series>(
    row: MetricRow,
    ofRun: Readonly<Record<string, readonly string[] | undefined>>,
    Kind: new (row: MetricRow) => S,
  ): S {
    const series = this.#metrics.get(row.name) ?? new Kind(row);
    if (series.row !== row) throw new Error(`metric ${row.name} was declared by another row`);
    this.#metrics.set(row.name, series);
    for (const labels of combinations(row, ofRun)) series.begin(labels);
    return series as S;
  }
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
