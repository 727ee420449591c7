/** The labels of one time series, with exactly the declared names. */
export type Labels = Readonly<Record<string, string>>;

/** The series of a metric. Throws for a label value that the row does not have: that is a bug. */
export abstract class Series {
  readonly row: MetricRow;
  readonly #refreshes: (() => void)[] = [];

  constructor(row: MetricRow) {
    this.row = row;
  }

  /** Calls `refresh` before each rendering, for a value that is kept elsewhere or computed on demand. */
  collect(refresh: () => void): void {
    this.#refreshes.push(refresh);
  }

  /** Brings the values up to date for a rendering. */
  refresh(): void {
    for (const refresh of this.#refreshes) refresh();
  }

  /** Creates an empty series unless it exists. */
  abstract begin(labels: Labels): void;
  abstract lines(): Iterable<string>;
}

/** The series of a counter or gauge, by rendered labels. */
export class NumberSeries extends Series {
  readonly #values = new Map<string, number>();

  /** See {@link Series.begin}. The initial number is 0. */
  begin(labels: Labels): void {
    this.inc(labels, 0);
  }

  /** Sets the number of the series with these labels. */
  set(value: number, labels: Labels = {}): void {
    this.#values.set(renderLabels(this.row, labels), value);
  }

  /** Adds to the number of the series with these labels, 0 if new. Throws a RangeError for a negative number. */
  inc(labels: Labels = {}, by = 1): void {
    if (!(by >= 0)) throw new RangeError(`counter ${this.row.name} cannot go down by ${by}`);
    const key = renderLabels(this.row, labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + by);
  }

  *lines(): Iterable<string> {
    const { name } = this.row;
    for (const [labels, value] of this.#values) yield `${name}${labels && `{${labels}}`} ${renderNumber(value)}`;
  }
}

/** The series of a histogram: non-cumulative counts by bucket. The last bucket is for values above every bound. */
export class BucketSeries extends Series {
  readonly #bounds = this.row.buckets ?? [];
  readonly #values = new Map<string, { readonly counts: Float64Array; sum: number }>();

  /** See {@link Series.begin}. There are no observations. */
  begin(labels: Labels): void {
    this.#series(labels);
  }

  /** Counts a value in the lowest matching bucket. */
  observe(value: number, labels: Labels = {}): void {
    const series = this.#series(labels);
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = found === -1 ? this.#bounds.length : found;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
  }

  *lines(): Iterable<string> {
    const { name } = this.row;
    for (const [labels, { counts, sum }] of this.#values) {
      const before = labels && `${labels},`;
      let cumulated = 0;
      for (const [index, count] of counts.entries()) {
        cumulated += count;
        yield `${name}_bucket{${before}le="${renderNumber(this.#bounds[index] ?? Infinity)}"} ${cumulated}`;
      }
      yield `${name}_sum${labels && `{${labels}}`} ${renderNumber(sum)}`;
      yield `${name}_count${labels && `{${labels}}`} ${cumulated}`;
    }
  }

  #series(labels: Labels): { readonly counts: Float64Array; sum: number } {
    const key = renderLabels(this.row, labels);
    let series = this.#values.get(key);
    if (series === undefined) {
      series = { counts: new Float64Array(this.#bounds.length + 1), sum: 0 };
      this.#values.set(key, series);
    }
    return series;
  }
}

function renderLabels({ name, labels: declared }: MetricRow, labels: Labels): string {
  const names = Object.keys(declared);
  if (Object.keys(labels).length !== names.length || names.some((label) => labels[label] === undefined))
    throw new Error(`metric ${name} has the labels [${names}], used with [${Object.keys(labels)}]`);
  for (const label of names) {
    const values = declared[label] ?? "";
    const value = labels[label] ?? "";
    const isKnown =
      typeof values === "string" || (Array.isArray(values) ? values.includes(value) : Object.hasOwn(values, value));
    if (!isKnown) throw new Error(`metric ${name} has no ${label} "${value}"`);
  }
  // A label with an empty value is the same as no label (https://prometheus.io/docs/concepts/data_model/#metric-names-and-labels).
  const given = names.filter((label) => labels[label] !== "");
  return given.map((label) => `${label}="${escapeLabel(labels[label] ?? "")}"`).join(",");
}

function renderNumber(value: number): string {
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}

/** Escapes a help text for the exposition format. */
export function escapeHelp(text: string): string {
  return text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n");
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replace(/"/g, '\\"');
}

/** The values of one label: a list, or a description for each value; or a description of values that are known only at runtime. */
export type LabelValues = readonly string[] | Readonly<Record<string, string>> | string;

/** The declaration of a metric, for the code, `/metrics` and docs/metrics.md. */
export interface MetricRow {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** One line of full sentences. */
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
  /** Upper bounds of a histogram, ascending, without infinity. */
  readonly buckets?: readonly number[];
  /** The flag that enables the metric. Undefined: always enabled. */
  readonly only?: string;
}

type NoLabels = Readonly<Record<never, string>>;

/** The labels of a row, each with one of its values. */
export type LabelsOf<R extends MetricRow> = {
  readonly [Label in keyof R["labels"]]: ValueOf<R["labels"][Label]>;
};

/** The labels of a row whose values are known only at runtime. */
export type RuntimeLabelValues<R extends MetricRow> = {
  readonly [Label in keyof R["labels"] as R["labels"][Label] extends string ? Label : never]?: readonly string[];
};

type ValueOf<Values> = Values extends string
  ? string
  : Values extends readonly (infer Value)[]
    ? Value & string
    : keyof Values & string;

interface Described<Labels extends Readonly<Record<string, LabelValues>>> {
  readonly help: string;
  readonly labels?: Labels;
  readonly only?: string;
}

function declarationOf<Type extends MetricRow["type"], More = unknown>(type: Type) {
  return <const Labels extends Readonly<Record<string, LabelValues>> = NoLabels>(
    name: string,
    row: Described<Labels> & More,
  ) => ({ name, type, ...row, labels: row.labels ?? ({} as Labels) });
}

/** Declares a counter: a number that only grows, from 0 at the start of the process. Its name ends in `_total`. */
export const counter = declarationOf("counter");

/** Declares a gauge: a number that goes up and down. */
export const gauge = declarationOf("gauge");

/** Declares a histogram: cumulative counts of observations by upper bound, their number and their sum. */
export const histogram = declarationOf<"histogram", { readonly buckets: readonly number[] }>("histogram");

/** Returns the values of a label that are known in advance; undefined if they are known only at runtime. */
export function knownValues(values: LabelValues): readonly string[] | undefined {
  if (typeof values === "string") return undefined;
  return Array.isArray(values) ? values : Object.keys(values);
}
