import { measureAdmission } from "./admission.ts";
import { measureHandOver } from "./high-availability.ts";
import { quantile } from "./plane.ts";
import { table } from "./report.ts";

/** What admission costs; see docs/admission.md for what it does. */
export async function reportAdmission(say: (line: string) => void): Promise<readonly string[]> {
  const { latencies, resident, anonymous } = await measureAdmission({ secrets: 20_000, reviews: 4_000 }, say);
  const memory = `Memory after that: ${resident.toFixed(0)} MiB resident, ${anonymous.toFixed(0)} of it anonymous.`;
  say(memory);
  const rows = latencies.map(({ title, concurrency, p50, p99, perSecond }) => [
    title,
    concurrency,
    p50.toFixed(1),
    p99.toFixed(1),
    perSecond.toFixed(0),
  ]);
  return [...table(["request", "at once", "p50, ms", "p99, ms", "a second"], rows), "", memory];
}

/** How long nobody writes when a leader ends. */
export async function reportHandOver(say: (line: string) => void): Promise<readonly string[]> {
  const results = await measureHandOver(undefined, say);
  const rows = results.map(({ signal, milliseconds }) => [
    signal,
    milliseconds.length,
    quantile(milliseconds, 0.5).toFixed(0),
    quantile(milliseconds, 1).toFixed(0),
  ]);
  return table(["the leader ends by", "times", "p50, ms", "most, ms"], rows);
}
