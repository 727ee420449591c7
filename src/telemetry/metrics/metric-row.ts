/**
 * The values of one label: a list, or a description for each value; or a description of values that are known only at runtime.
 */
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

/** Declares a counter: a number that only grows, from 0 at the start of the process. Its name ends in `_total`. */
export function counter<
  const Name extends string,
  const Labels extends Readonly<Record<string, LabelValues>> = NoLabels,
>(name: Name, row: Described<Labels>) {
  return { name, type: "counter" as const, ...row, labels: row.labels ?? ({} as Labels) };
}

/** Declares a gauge: a number that goes up and down. */
export function gauge<const Name extends string, const Labels extends Readonly<Record<string, LabelValues>> = NoLabels>(
  name: Name,
  row: Described<Labels>,
) {
  return { name, type: "gauge" as const, ...row, labels: row.labels ?? ({} as Labels) };
}

/** Declares a histogram: cumulative counts of observations by upper bound, their number and their sum. */
export function histogram<
  const Name extends string,
  const Labels extends Readonly<Record<string, LabelValues>> = NoLabels,
>(name: Name, row: Described<Labels> & { readonly buckets: readonly number[] }) {
  return { name, type: "histogram" as const, ...row, labels: row.labels ?? ({} as Labels) };
}

/** Returns the values of a label that are known in advance; undefined if they are known only at runtime. */
export function knownValues(values: LabelValues): readonly string[] | undefined {
  if (typeof values === "string") return undefined;
  return Array.isArray(values) ? values : Object.keys(values);
}
