import { measurePeers } from "./peers.ts";
import { table } from "./report.ts";

/** Wave beside other controllers, each alone with the same objects. */
export async function reportPeers(say: (line: string) => void): Promise<readonly string[] | undefined> {
  const figures = await measurePeers(say);
  if (figures === undefined) return undefined;
  const rows = figures.map(({ name, oneEdit, fanOut, resident, peak, rolls }) => [
    name,
    oneEdit.toFixed(1),
    fanOut.toFixed(0),
    resident.toFixed(0),
    peak.toFixed(0),
    rolls,
  ]);
  for (const row of rows) say(row.join("  "));
  return table(
    [
      "controller",
      "one edit, ms",
      "500 Deployments, ms",
      "resident, MiB",
      "peak, MiB",
      "rollouts for 100 edits in 5 s",
    ],
    rows,
  );
}
