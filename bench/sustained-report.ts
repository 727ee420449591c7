import { table } from "./report.ts";
import { measureSustained } from "./sustained.ts";

const sizes = [
  { secrets: 1_000, workloads: 100 },
  { secrets: 10_000, workloads: 1_000 },
  { secrets: 50_000, workloads: 5_000 },
];

/** What a minute of edits of Secrets at random costs, at three sizes of cluster. */
export async function reportSustained(say: (line: string) => void): Promise<readonly string[]> {
  const figures = await measureSustained(sizes, 60, (one) =>
    say(
      `${one.secrets} Secrets, ${one.workloads} workloads: ${one.editsPerSecond.toFixed(0)} edits a second, ` +
        `${one.rolls} rolled, settled after ${one.settledSeconds.toFixed(1)} s, ${one.wrong} wrong; ` +
        `${one.resident.map((mib) => mib.toFixed(1)).join(" → ")} MiB resident, peak ${one.peak.toFixed(1)}; ` +
        `${one.closed} watches closed, ${one.restarts} begun again, longest wait ${one.delayMs.toFixed(0)} ms, ` +
        `${(one.cpuShare * 100).toFixed(0)} % of a core`,
    ),
  );
  return table(
    [
      "Secrets",
      "workloads",
      "edits a second",
      "rolled",
      "wait after the last edit, s",
      "wrong at the end",
      "resident before, halfway, after, MiB",
      "peak",
      "watches that the server closed: all, Wave's",
      "longest wait for the event loop, ms",
      "CPU, share of one core",
    ],
    figures.map((one) => [
      one.secrets,
      one.workloads,
      one.editsPerSecond.toFixed(0),
      one.rolls,
      one.settledSeconds.toFixed(1),
      one.wrong,
      one.resident.map((mib) => mib.toFixed(1)).join(", "),
      one.peak.toFixed(1),
      `${one.closed}, ${one.restarts}`,
      one.delayMs.toFixed(0),
      `${(one.cpuShare * 100).toFixed(0)} %`,
    ]),
  );
}
