import { availableControllers, countRolls, measurePeers } from "./peers.ts";
import { table } from "./report.ts";

/** The numbers of other workloads, smallest first. */
const sizes = [100, 800, 2_000];

/** Wave beside Wave in Go, in clusters of several sizes. */
export async function reportPeers(say: (line: string) => void): Promise<readonly string[] | undefined> {
  const controllers = availableControllers(["Wave", "Wave in Go"], say);
  if (controllers === undefined) return undefined;
  const rows: string[][] = [];
  for (const size of sizes) {
    for (const figures of await measurePeers(controllers, size)) {
      const { name, others, oneEdit, fanOut, startSeconds, startReads, resident, peak } = figures;
      const times = [oneEdit.toFixed(1), fanOut?.toFixed(0) ?? "", startSeconds.toFixed(1)];
      const row = [name, `${others}`, ...times, `${startReads}`, resident.toFixed(0), peak.toFixed(0)];
      rows.push(row);
      say(row.join("  "));
    }
  }
  return table(
    [
      "controller",
      "other workloads",
      "one edit, ms",
      "500 Deployments, ms",
      "processor time of the start, s",
      "reads at the start",
      "resident, MiB",
      "peak, MiB",
    ],
    rows,
  );
}

/** Wave beside Wave in Go and Reloader, in one cluster. Reloader is too slow for several. */
export async function reportReloader(say: (line: string) => void): Promise<readonly string[] | undefined> {
  const controllers = availableControllers(["Wave", "Wave in Go", "Reloader"], say);
  if (controllers === undefined) return undefined;
  const figures = await measurePeers(controllers, 800);
  const rolls = new Map<string, number>();
  for (const controller of controllers) rolls.set(controller.name, await countRolls(controller));
  const rows = figures.map(({ name, oneEdit, fanOut, resident, peak }) => [
    name,
    oneEdit.toFixed(1),
    fanOut?.toFixed(0) ?? "",
    resident.toFixed(0),
    peak.toFixed(0),
    `${rolls.get(name)}`,
  ]);
  for (const row of rows) say(row.join("  "));
  const times = ["one edit, ms", "500 Deployments, ms"];
  return table(["controller", ...times, "resident, MiB", "peak, MiB", "rollouts for 100 edits in 5 s"], rows);
}
