/**
 * The values of one label: all of them, as a list or each with what it means; or a text that says what they are, where
 * only a run knows them.
 */
export type LabelValues = readonly string[] | Readonly<Record<string, string>> | string;

/** One metric, as the code declares it, /metrics shows it and docs/metrics.md lists it. */
export interface MetricRow {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** One line, without a full stop where it is not a sentence of its own. */
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
  /** Of a histogram: upper bounds, ascending; the one of infinity is added. */
  readonly buckets?: readonly number[];
  /** The flag without which it is not there; absent: it always is. */
  readonly only?: string;
}

type NoLabels = Readonly<Record<never, string>>;

/** What a row's labels may be: exactly those that it names, each with one of its values. */
export type LabelsOf<R extends MetricRow> = {
  readonly [Label in keyof R["labels"]]: ValueOf<R["labels"][Label]>;
};

/** The labels of a row whose values only a run knows. */
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

/** A number that only grows, from 0 at the start of the process. Its name ends in `_total`. */
export function counter<
  const Name extends string,
  const Labels extends Readonly<Record<string, LabelValues>> = NoLabels,
>(name: Name, row: Described<Labels>) {
  return { name, type: "counter" as const, ...row, labels: row.labels ?? ({} as Labels) };
}

/** A number that goes up and down. */
export function gauge<const Name extends string, const Labels extends Readonly<Record<string, LabelValues>> = NoLabels>(
  name: Name,
  row: Described<Labels>,
) {
  return { name, type: "gauge" as const, ...row, labels: row.labels ?? ({} as Labels) };
}

/** How many observations were at most each of the buckets' bounds, their number and their sum. */
export function histogram<
  const Name extends string,
  const Labels extends Readonly<Record<string, LabelValues>> = NoLabels,
>(name: Name, row: Described<Labels> & { readonly buckets: readonly number[] }) {
  return { name, type: "histogram" as const, ...row, labels: row.labels ?? ({} as Labels) };
}

/** The values of a label that are known beforehand; undefined where only a run knows them. */
export function knownValues(values: LabelValues): readonly string[] | undefined {
  if (typeof values === "string") return undefined;
  return Array.isArray(values) ? values : Object.keys(values);
}
