/** How a chart shows its values: all with one divisor and one suffix. */
interface Scale {
  readonly divisor: number;
  readonly text: (value: number) => string;
}

type Step = readonly [divisor: number, suffix: string];

const seconds: readonly Step[] = [
  [0.001, " ms"],
  [1, " s"],
  [60, " min"],
  [3_600, " h"],
  [86_400, " d"],
];

const bytes: readonly Step[] = [
  [1, " B"],
  [1_024, " KiB"],
  [1_024 ** 2, " MiB"],
  [1_024 ** 3, " GiB"],
];

/** Units of the dashboard by their identifiers in Grafana. */
const units: Readonly<Record<string, readonly Step[]>> = {
  short: [[1, ""]],
  s: seconds,
  bytes,
  percentunit: [[0.01, "%"]],
  ops: [[1, " ops/s"]],
  reqps: [[1, " req/s"]],
};

/** Returns the scale for values up to `most`. Throws an Error for a unit that it does not know. */
export function scaleFor(unit: string, most: number): Scale {
  const steps = units[unit];
  const [divisor, suffix] = steps?.findLast(([from]) => most >= from) ?? steps?.[0] ?? [];
  if (divisor === undefined) throw new Error(`the picture of the dashboard has no unit "${unit}"`);
  return { divisor, text: (value) => `${Number((value / divisor).toPrecision(3))}${suffix}` };
}
