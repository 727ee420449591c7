import { type FanOutFigures, measureFanOut } from "./fan-out.ts";
import { measureLatency } from "./latency.ts";
import { table } from "./report.ts";

/** From an edit to the patched workload, one at a time. */
export async function reportLatency(say: (line: string) => void): Promise<readonly string[]> {
  const { edits, p50, p99 } = await measureLatency();
  say(`${edits} edits: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  return table(["edits, one at a time", "p50, ms", "p99, ms"], [[edits, p50.toFixed(1), p99.toFixed(1)]]);
}

/** One ConfigMap to many workloads, beside what the server can do. */
export async function reportFanOut(say: (line: string) => void): Promise<readonly string[]> {
  const figures: FanOutFigures[] = [];
  for (const deployments of [500, 1_000]) {
    const one = await measureFanOut(deployments);
    figures.push(one);
    say(
      `${deployments} Deployments: ${one.wave.toFixed(0)} ms; as many bare PATCHes ${one.limit.toFixed(0)} ms ` +
        `(${one.bestConcurrency} at once), ratio ${(one.wave / one.limit).toFixed(2)}; ${requests(one)}`,
    );
  }
  return table(
    ["Deployments", "Wave, ms", "bare PATCHes, ms", "sent at once", "ratio", "Wave's requests for one edit"],
    figures.map((one) => [
      one.deployments,
      one.wave.toFixed(0),
      one.limit.toFixed(0),
      one.bestConcurrency,
      (one.wave / one.limit).toFixed(2),
      requests(one),
    ]),
  );
}

function requests({ requests }: FanOutFigures): string {
  return Object.entries(requests)
    .map(([what, count]) => `${Number(count.toFixed(1))} ${what}`)
    .join(", ");
}
