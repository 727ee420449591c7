import { type BurstFigures, measureBurst } from "./burst.ts";
import { table } from "./report.ts";

/** Whether reading keeps up with many writes in a row, also while other processes need all cores. */
export async function reportBurst(say: (line: string) => void): Promise<readonly string[]> {
  const rows: (readonly [busy: number, figures: BurstFigures])[] = [];
  for (const busy of [0, 2]) {
    const figures = await measureBurst({ firstWrites: 2_000, readers: 1_000, padding: 20_000, edits: 9, busy });
    for (const one of figures) {
      rows.push([busy, one]);
      say(
        `${busy} busy processes: ${one.what}, ${one.times} times ${one.writes}: ${one.seconds.toFixed(1)} s, ` +
          `${one.closed} watches closed as too slow, ${one.restarts} begun again, ` +
          `longest wait ${one.delayMs.toFixed(0)} ms, ${one.reads} reads, ` +
          `${one.cpuSeconds.toFixed(1)} s of processor time`,
      );
    }
  }
  return table(
    [
      "",
      "busy processes",
      "Deployments of 20 kB",
      "times",
      "seconds, median",
      "Wave's processor time, all times, s",
      "Wave's reads, all times",
      "watches closed as too slow, all times",
      "longest wait for the event loop, ms",
    ],
    rows.map(([busy, one]) => [
      one.what,
      busy,
      one.writes,
      one.times,
      one.seconds.toFixed(1),
      one.cpuSeconds.toFixed(1),
      one.reads,
      one.closed,
      one.delayMs.toFixed(0),
    ]),
  );
}
