/** A metric as a scraper reads it: type, help text and samples. For tests and benchmarks only. */
export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

/**
 * Parses the Prometheus text format 0.0.4 strictly. Every sample belongs to the family declared directly above it. HELP
 * and TYPE appear once each, no series appears twice, and labels are quoted and escaped. Throws an Error with the wrong
 * line. For tests and benchmarks only.
 */
export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  const families = new Map<string, Family>();
  const series = new Set<string>();
  let current: { name: string; family: Family } | undefined;
  let help: { name: string; text: string } | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line);
    if (comment?.[1] === "HELP") {
      help = { name: comment[2] ?? "", text: unescaped(comment[3] ?? "", /\\([\\n])/g) };
    } else if (comment !== null) {
      const [, , name = "", type = ""] = comment;
      if (help?.name !== name || families.has(name) || !["counter", "gauge", "histogram"].includes(type))
        throw new Error(`misplaced: ${line}`);
      current = { name, family: { type, help: help.text, samples: [] } };
      families.set(name, current.family);
    } else {
      const sample = parseSample(line);
      const suffixes = current?.family.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
      if (current === undefined || !suffixes.some((suffix) => current?.name + suffix === sample.name))
        throw new Error(`a sample of no family: ${line}`);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (series.has(key)) throw new Error(`a series twice: ${line}`);
      series.add(key);
      current.family.samples.push(sample);
    }
  }
  return families;
}

function parseSample(line: string): Family["samples"][number] {
  const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (match === null) throw new Error(`not a sample: ${line}`);
  const [, name = "", inside, number = ""] = match;
  const value = number === "+Inf" ? Infinity : Number(number);
  if (Number.isNaN(value) && number !== "NaN") throw new Error(`not a number: ${line}`);
  const labels: Record<string, string> = {};
  let rest = inside ?? "";
  while (rest !== "") {
    const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\n"])*)"(?:,(?=.)|$)/.exec(rest);
    if (label === null || (label[1] ?? "") in labels) throw new Error(`labels: ${line}`);
    labels[label[1] ?? ""] = unescaped(label[2] ?? "", /\\([\\n"])/g);
    rest = rest.slice(label[0].length);
  }
  if (inside === "") throw new Error(`empty labels: ${line}`);
  return { name, labels, value };
}

function unescaped(text: string, pattern: RegExp): string {
  return text.replace(pattern, (_, character: string) => (character === "n" ? "\n" : character));
}
