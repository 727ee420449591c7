import { type Clock, sleep } from "../../lib/clock.ts";
import { workloadStateNames, workloadStates } from "../cluster/states/state-rows.ts";
import type { Paint } from "../output/paint.ts";
import { changeLines } from "./change-tree.ts";
import { type ListRow, ListTable, type TableForm } from "./list-output.ts";
import { minPauseMs, pausePerReading, type Reading } from "./watch-list.ts";

/** The input of {@link liveList}. */
export interface LiveListOptions {
  /** Reads all workloads, whatever their state. Undefined: the cluster was unavailable, and the next reading may succeed. */
  readonly read: () => Promise<Reading | undefined>;
  readonly isWanted: (row: ListRow) => boolean;
  readonly form: TableForm;
  /** Returns the warnings of the last reading. */
  readonly warnings: () => readonly string[];
  readonly draw: (lines: readonly string[]) => void;
  /** Returns how many lines fit on the screen. */
  readonly height: () => number;
  readonly clock: Clock;
  /** Ends the list. */
  readonly signal?: AbortSignal;
}

/** The time between two drawings of the same reading, in milliseconds: ages and soak times go on. */
const drawEveryMs = 1_000;

/** Draws one table of the wanted workloads, with the changes in progress below, again and again. Rejects with what `read` throws. */
export async function liveList(options: LiveListOptions): Promise<never> {
  const { read, draw, clock, signal } = options;
  let last: Reading | undefined;
  for (;;) {
    const before = clock.monotonic();
    const reading = await read();
    // A cluster that was read only in part keeps its rows.
    if (reading !== undefined) last = { ...reading, rows: [...reading.rows, ...keptRows(last, reading)] };
    const pauseUntil = clock.monotonic() + Math.max(minPauseMs, pausePerReading * (clock.monotonic() - before));
    do {
      if (last !== undefined) draw(linesOf(last, options, clock.wall()));
      await sleep(clock, drawEveryMs, signal);
    } while (clock.monotonic() < pauseUntil);
  }
}

function keptRows(last: Reading | undefined, { rows, isWhole }: Reading): readonly ListRow[] {
  const nameOf = ({ cluster, namespace, kind, name }: ListRow) => JSON.stringify([cluster, namespace, kind, name]);
  const read = new Set(rows.map(nameOf));
  return (last?.rows ?? []).filter((row) => !isWhole(row.cluster) && !read.has(nameOf(row)));
}

/** Returns the lines of the screen. If they do not fit, workloads that need no attention are left out first. */
function linesOf(
  { rows, changes }: Reading,
  { isWanted, form, warnings, height }: LiveListOptions,
  now: number,
): readonly string[] {
  const wanted = rows.filter(isWanted);
  const trees = changes.flatMap((change) => changeLines(change, rows, now, form.paint));
  const below = [...(trees.length === 0 ? [] : ["", ...trees]), "", summaryOf(wanted, form.paint), ...warnings()];
  const fitting = Math.max(1, height() - below.length - 2);
  const isTooLong = wanted.length > fitting + 1;
  const first = isTooLong
    ? wanted.toSorted((a, b) => Number(a.state === "current") - Number(b.state === "current"))
    : wanted;
  const shown = isTooLong ? first.slice(0, fitting) : first;
  const table = new ListTable(form).lines(shown, now).trimEnd().split("\n");
  const rest = wanted.length - shown.length;
  return [...table, ...(rest === 0 ? [] : [form.paint("dim", `and ${rest} more`)]), ...below];
}

/** Returns the number of workloads in each state: `12 workloads: 9 current, 2 rolling, 1 held`. */
function summaryOf(rows: readonly ListRow[], paint: Paint): string {
  const counts = workloadStateNames.flatMap((state) => {
    const count = rows.filter((row) => row.state === state).length;
    return count === 0 ? [] : [paint(workloadStates[state].style, `${count} ${state}`)];
  });
  const total = `${rows.length} ${rows.length === 1 ? "workload" : "workloads"}`;
  return counts.length === 0 ? total : `${total}: ${counts.join(", ")}`;
}
