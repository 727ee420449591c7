import { type Clock, sleep } from "../../lib/clock.ts";
import type { ChangeNow } from "../cluster/snapshot/changes-now.ts";
import type { ListRow, ListTable } from "./list-output.ts";

/** Minimum time between two readings, in milliseconds. */
export const minPauseMs = 2_000;
/** How many times as long as a reading the pause after it is, so that a watch of a large cluster costs the API server little. */
export const pausePerReading = 4;

/** The workloads of one reading. */
export interface Reading {
  readonly rows: readonly ListRow[];
  /** The changes in progress; none with several clusters. */
  readonly changes: readonly ChangeNow[];
  /** Whether a workload with this cluster is gone if `rows` lacks it: not if its cluster was read only in part. */
  readonly isWhole: (cluster: string | undefined) => boolean;
}

/** The input of {@link watchList}. */
interface ListWatch {
  /** Reads all workloads, whatever their state. Undefined: the cluster was unavailable, and the next reading may succeed. */
  readonly read: () => Promise<Reading | undefined>;
  /** Whether the list shows a workload. A row that leaves the list is printed once more. */
  readonly isWanted: (row: ListRow) => boolean;
  readonly table: ListTable;
  readonly write: (text: string) => void;
  readonly clock: Clock;
  /** Ends the watch. */
  readonly signal?: AbortSignal;
}

/**
 * Prints the wanted workloads, and then a line for each workload whose row has changed. Reads again and again, without a watch of the API
 * server: a broken connection cannot end it, and it needs no permission to watch. Rejects with what `read` throws.
 */
export async function watchList({ read, isWanted, table, write, clock, signal }: ListWatch): Promise<never> {
  let shown: ReadonlyMap<string, ListRow> = new Map();
  for (;;) {
    const before = clock.monotonic();
    const reading = await read();
    if (reading !== undefined) {
      const { now, changed } = compare(shown, reading, isWanted);
      if (changed.length > 0) write(table.lines(changed, clock.wall()));
      shown = now;
    }
    await sleep(clock, Math.max(minPauseMs, pausePerReading * (clock.monotonic() - before)), signal);
  }
}

/** Returns the rows that are shown after a reading, by their names, and the rows to print. */
function compare(
  shown: ReadonlyMap<string, ListRow>,
  { rows, isWhole }: Reading,
  isWanted: (row: ListRow) => boolean,
): { readonly now: ReadonlyMap<string, ListRow>; readonly changed: readonly ListRow[] } {
  const read = new Map(rows.map((row) => [keyOf(row), row]));
  const now = new Map<string, ListRow>();
  const changed: ListRow[] = [];
  for (const [key, row] of read) {
    const last = shown.get(key);
    const wanted = isWanted(row);
    if (wanted) now.set(key, row);
    if ((wanted || last !== undefined) && (last === undefined || contentOf(last) !== contentOf(row))) changed.push(row);
  }
  for (const [key, row] of shown) {
    if (read.has(key)) continue;
    if (isWhole(row.cluster)) changed.push({ ...row, removed: true });
    else now.set(key, row);
  }
  return { now, changed };
}

function keyOf({ cluster, namespace, kind, name }: ListRow): string {
  return JSON.stringify([cluster, namespace, kind, name]);
}

/** Returns what a row shows, without its age. */
function contentOf({ state, because, pods, until, currentHash }: ListRow): string {
  return JSON.stringify([state, because, pods?.current, pods?.ready, pods?.total, until, currentHash]);
}
