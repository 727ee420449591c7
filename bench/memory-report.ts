import { measureMemory } from "./memory.ts";
import { table } from "./report.ts";

const sizes = [
  { secrets: 2_000, workloads: 800 },
  { secrets: 20_000, workloads: 2_000 },
  { secrets: 50_000, workloads: 2_000 },
];

/** What starting, synced and at rest, costs at three sizes of cluster. */
export async function reportMemory(say: (line: string) => void): Promise<readonly string[]> {
  const figures = await measureMemory(sizes, (one) =>
    say(
      `${one.secrets} Secrets, ${one.workloads} workloads: synced in ${one.secondsToSynced.toFixed(2)} s, ` +
        `${one.resident.toFixed(1)} MiB resident, ${one.anonymous.toFixed(1)} anonymous, ` +
        `peak ${one.peak.toFixed(1)}; ${one.requests}`,
    ),
  );
  return table(
    [
      "Secrets of 4 KiB",
      "workloads",
      "start to synced",
      "resident, MiB",
      "anonymous, MiB",
      "peak, MiB",
      "API requests",
    ],
    figures.map((one) => [
      one.secrets,
      one.workloads,
      `${one.secondsToSynced.toFixed(2)} s`,
      one.resident.toFixed(1),
      one.anonymous.toFixed(1),
      one.peak.toFixed(1),
      one.requests,
    ]),
  );
}
