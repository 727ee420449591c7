import { type BurstFigures, measureBurst } from "./burst.ts";
import { table } from "./report.ts";

/** Whether reading keeps up with many writes in a row. */
export async function reportBurst(say: (line: string) => void): Promise<readonly string[]> {
  const figures = await measureBurst({ firstWrites: 2_000, readers: 1_000, padding: 20_000, workloads: false });
  for (const one of figures) {
    say(
      `${one.writes} ${one.what}: ${one.seconds.toFixed(1)} s, ${one.closed} watches closed as too slow, ` +
        `${one.restarts} begun again, longest wait ${one.delayMs.toFixed(0)} ms, ${one.reads} reads, ` +
        `${one.cpuSeconds.toFixed(1)} s of processor time`,
    );
  }
  return table(
    [
      "",
      "Deployments of 20 kB",
      "seconds",
      "Wave's processor time, s",
      "Wave's reads",
      "watches closed as too slow",
      "longest wait for the event loop, ms",
    ],
    figures.map((one: BurstFigures) => [
      one.what,
      one.writes,
      one.seconds.toFixed(1),
      one.cpuSeconds.toFixed(1),
      one.reads,
      one.closed,
      one.delayMs.toFixed(0),
    ]),
  );
}
