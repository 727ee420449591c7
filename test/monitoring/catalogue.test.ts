import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { catalogue } from "../../src/telemetry/catalogue.ts";
import { knownValues, type MetricRow } from "../../src/telemetry/metrics/series.ts";
import { startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { type Family, parseExposition } from "../support/parse-exposition.ts";

const rows: readonly MetricRow[] = Object.values(catalogue).flatMap((each) => Object.values(each));
const flagsOf = async (namespace: string) => [
  "--leader-election",
  `--leader-election-namespace=${namespace}`,
  "--leader-election-id=wave",
  `--hash-key-secret=${namespace}/wave-hash-key`,
  `--notify=${await notifyFile()}`,
  "--owner-references",
  "--pin-config",
  "--gate-prometheus-url=http://127.0.0.1:9",
];

/** A receiver without a listener, and no notification is due. */
const receivers = [{ name: "nobody", type: "webhook", url: "http://127.0.0.1:9", outcomes: ["halted"] }];

async function notifyFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "wave-notify-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "notify.yaml");
  await writeFile(file, JSON.stringify({ receivers }));
  return file;
}

describeOnControlPlane("the metrics of a run", (cluster) => {
  it.for([
    ["by default", "metrics-by-default", false],
    ["with everything on", "metrics-of-all", true],
  ] as const)(
    "%s are exactly those of the catalogue, including each series that exists from the start",
    async ([, ns, all]) => {
      const { wave } = await startScene(cluster, ns, { webhooks: all, args: all ? await flagsOf(ns) : [] });
      onTestFinished(async () => {
        await wave.stop();
      });
      const shown = parseExposition(await wave.metrics());
      const expected = rows.filter(({ only }) => all || only === undefined);
      expect([...shown.keys()]).toEqual(expected.map(({ name }) => name).sort());
      for (const row of expected) expect(shownOf(row, shown.get(row.name)), row.name).toEqual(declaredBy(row));

      function declaredBy(row: MetricRow) {
        const values = Object.entries(row.labels).map(
          ([label, known]) => knownValues(known) ?? valuesOf(shown.get(row.name), label),
        );
        const series = values.reduce<string[][]>((some, each) => some.flatMap((s) => each.map((v) => [...s, v])), [[]]);
        const { type, help } = row;
        return {
          type,
          help,
          labels: Object.keys(row.labels).sort(),
          series: series.map((one) => one.join(" ")).sort(),
        };
      }
    },
  );
});

function shownOf(row: MetricRow, family: Family | undefined) {
  const names = Object.keys(row.labels);
  const samples = (family?.samples ?? []).map(({ labels: { le: _, ...labels } }) => labels);
  const series = new Set(samples.map((labels) => names.map((name) => labels[name] ?? "").join(" ")));
  const labels = [...new Set(samples.flatMap((each) => Object.keys(each)))].sort();
  return { type: family?.type, help: family?.help, labels, series: [...series].sort() };
}

/** Returns the values of a label in this run. */
function valuesOf(family: Family | undefined, label: string): string[] {
  return [...new Set((family?.samples ?? []).map(({ labels }) => labels[label] ?? ""))];
}
