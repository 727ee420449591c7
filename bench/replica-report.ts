import { admissionTable, measureAdmission } from "./admission.ts";
import { measureHandOver } from "./high-availability.ts";
import { quantile } from "./plane.ts";
import { table } from "./report.ts";

/** What admission costs; see docs/webhooks.md for what it does. */
export async function reportAdmission(say: (line: string) => void): Promise<readonly string[]> {
  return admissionTable(await measureAdmission({ secrets: 20_000, reviews: 4_000 }, say)).split("\n");
}

/** The time without a write after a leader ends. */
export async function reportHandOver(say: (line: string) => void): Promise<readonly string[]> {
  const results = await measureHandOver(undefined, say);
  const rows = results.map(({ signal, milliseconds }) => [
    signal,
    milliseconds.length,
    quantile(milliseconds, 0.5).toFixed(0),
    quantile(milliseconds, 1).toFixed(0),
  ]);
  return table(["the leader ends by", "runs", "p50, ms", "maximum, ms"], rows);
}
