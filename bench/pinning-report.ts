import {
  measureOwners,
  measurePinnedEdits,
  measurePinnedMemory,
  measurePodCreations,
  type PinningRows,
} from "./pinning.ts";
import { table } from "./report.ts";

/** What pinned configuration costs: an edit, the creation of a Pod, memory, and the owners of a copy. */
export async function reportPinning(say: (line: string) => void): Promise<readonly string[]> {
  const edits = timesTable("an edit until the patched workload", await measurePinnedEdits(), say);
  const pods = timesTable("creation of a Pod with 10 references", await measurePodCreations(), say);
  const owned = await measureOwners();
  const [one] = owned;
  const owners = table(
    ["owners of a copy", "bytes of the object", "one write: minimum, ms", "p50, ms", "ratio of the minima"],
    owned.map(({ owners, bytes, minimum, p50 }) => [
      owners,
      bytes,
      minimum.toFixed(1),
      p50.toFixed(1),
      (minimum / (one?.minimum ?? 1)).toFixed(2),
    ]),
  );
  for (const line of owners) say(line);
  const memory = table(
    ["workloads", "pinned copies", "resident, MiB", "anonymous, MiB"],
    (await measurePinnedMemory()).map(({ workloads, copies, resident, anonymous }) => [
      workloads,
      copies,
      resident.toFixed(1),
      anonymous.toFixed(1),
    ]),
  );
  for (const line of memory) say(line);
  return [...edits, "", ...pods, "", ...memory, "", ...owners];
}

function timesTable(title: string, rows: PinningRows, say: (line: string) => void): readonly string[] {
  const [first] = rows;
  const lines = table(
    [title, "count", "minimum, ms", "p50, ms", "ratio of the minima", "ratio of the p50"],
    rows.map(({ title, count, minimum, p50 }) => [
      title,
      count,
      minimum.toFixed(1),
      p50.toFixed(1),
      (minimum / (first?.minimum ?? 1)).toFixed(2),
      (p50 / (first?.p50 ?? 1)).toFixed(2),
    ]),
  );
  for (const line of lines) say(line);
  return lines;
}
