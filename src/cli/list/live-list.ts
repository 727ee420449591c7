import { parseWorkloadKey, workloadKey } from "../../domain/model/workload-shape.ts";
import type { Stage } from "../../domain/pacing/stage.ts";
import { type Clock, sleep } from "../../lib/clock.ts";
import { printable } from "../../lib/printable.ts";
import { workloadStateNames, workloadStates } from "../cluster/states/state-rows.ts";
import { age, type Style } from "../output/sentences.ts";
import type { Paint } from "../output/table.ts";
import type { ChangeNow } from "./changes-now.ts";
import { type ListRow, ListTable, type TableForm } from "./list-output.ts";

/** What a list that is read again and again needs. */
interface RepeatedList {
  /** Reads all workloads, whatever their state. Undefined: the cluster was unavailable, and the next reading may succeed. */
  readonly read: () => Promise<Reading | undefined>;
  readonly isWanted: (row: ListRow) => boolean;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

interface LiveListOptions extends RepeatedList {
  readonly form: TableForm;
  readonly warnings: () => readonly string[];
  readonly draw: (lines: readonly string[]) => void;
  /** Returns how many lines fit on the screen. */
  readonly height: () => number;
}

/** The time between two drawings of the same reading, in milliseconds: ages and soak times go on. */
const drawEveryMs = 1_000;

/** Draws one table of the wanted workloads, with the changes in progress below, again and again. Rejects with what `read` throws. */
export async function liveList(options: LiveListOptions): Promise<never> {
  const { read, draw, clock, signal } = options;
  let last: Reading | undefined;
  for (;;) {
    const before = clock.monotonic();
    last = withKeptRows(last, await read());
    const pauseUntil = clock.monotonic() + Math.max(minPauseMs, pausePerReading * (clock.monotonic() - before));
    do {
      if (last !== undefined) draw(linesOf(last, options, clock.wall()));
      await sleep(clock, drawEveryMs, signal);
    } while (clock.monotonic() < pauseUntil);
  }
}

/** Returns a reading with the rows of the last one if their cluster was not read, or only in part. */
function withKeptRows(last: Reading | undefined, reading: Reading | undefined): Reading | undefined {
  if (reading === undefined || last === undefined) return reading ?? last;
  const read = new Set(reading.rows.map(keyOf));
  const kept = last.rows.filter((row) => !reading.isWhole(row.cluster) && !read.has(keyOf(row)));
  return { ...reading, rows: [...reading.rows, ...kept] };
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
  const byNeed = () => wanted.toSorted((a, b) => Number(a.state === "current") - Number(b.state === "current"));
  const shown = wanted.length <= fitting + 1 ? wanted : byNeed().slice(0, fitting);
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

/** Minimum time between two readings, in milliseconds. */
const minPauseMs = 2_000;
/** How many times as long as a reading the pause after it is, so that a watch of a large cluster costs the API server little. */
const pausePerReading = 4;

/** The workloads of one reading. */
export interface Reading {
  readonly rows: readonly ListRow[];
  /** The changes in progress; none with several clusters. */
  readonly changes: readonly ChangeNow[];
  /** Whether a workload with this cluster is gone if `rows` lacks it: not if its cluster was read only in part. */
  readonly isWhole: (cluster: string | undefined) => boolean;
}

/** The input of {@link watchList}. A row that leaves the list is printed once more. */
interface ListWatch extends RepeatedList {
  readonly table: ListTable;
  readonly write: (text: string) => void;
}

/**
 * Prints the wanted workloads, and then a line for each workload whose row has changed. Reads again and again, without a watch of the API
 * server: a broken connection cannot end it, and it needs no permission to watch. Rejects with what `read` throws.
 */
export async function watchList({ read, isWanted, table, write, clock, signal }: ListWatch): Promise<never> {
  let last: Reading | undefined;
  let shown: readonly ListRow[] = [];
  for (;;) {
    const before = clock.monotonic();
    last = withKeptRows(last, await read());
    const rows = last?.rows ?? [];
    const changed = changedRows(shown, rows, isWanted);
    if (changed.length > 0) write(table.lines(changed, clock.wall()));
    shown = rows.filter(isWanted);
    await sleep(clock, Math.max(minPauseMs, pausePerReading * (clock.monotonic() - before)), signal);
  }
}

/** Returns the wanted or shown rows that differ from the shown ones, and those that are gone. */
function changedRows(
  shown: readonly ListRow[],
  rows: readonly ListRow[],
  isWanted: (row: ListRow) => boolean,
): readonly ListRow[] {
  const before = new Map(shown.map((row) => [keyOf(row), contentOf(row)]));
  const read = new Set(rows.map(keyOf));
  return [
    ...rows.filter((row) => {
      const content = before.get(keyOf(row));
      return content === undefined ? isWanted(row) : content !== contentOf(row);
    }),
    ...shown.flatMap((row) => (read.has(keyOf(row)) ? [] : [{ ...row, removed: true } as const])),
  ];
}

function keyOf({ cluster, namespace, kind, name }: ListRow): string {
  return JSON.stringify([cluster, namespace, kind, name]);
}

/** Returns what a row shows, without its age. */
function contentOf({ state, because, pods, until, currentHash }: ListRow): string {
  return JSON.stringify([state, because, pods?.current, pods?.ready, pods?.total, until, currentHash]);
}

/** How many workloads a branch names. */
const shownWorkloads = 5;

/** The branches of workloads that are not in a batch to come, in the order of the tree. */
const branches: readonly { readonly state: Stage["state"]; readonly title: string; readonly style: Style }[] = [
  { state: "failed", title: "failed", style: "red" },
  { state: "stuck", title: "stuck", style: "yellow" },
  { state: "unusable", title: "unusable", style: "yellow" },
  { state: "passed", title: "complete", style: "green" },
  { state: "soaking", title: "soaking", style: "cyan" },
  { state: "progressing", title: "rolling", style: "cyan" },
];

/** Returns a change as a tree with one branch for each batch: failed, complete, rolling now, and next. `rows` show the Pods. */
export function changeLines(
  { object, members, batches, editedBy, editedAt }: ChangeNow,
  rows: readonly ListRow[],
  now: number,
  paint: Paint,
): readonly string[] {
  const edited =
    editedAt === undefined
      ? ""
      : `, edited${editedBy === undefined ? "" : ` by ${editedBy}`} ${age(now - editedAt)} ago`;
  const complete = members.filter(({ stage }) => stage.state === "passed").length;
  const name = `${object.kind.toLowerCase()}/${object.name} -n ${object.namespace}`;
  const head = `${name}: ${complete} of ${members.length} complete${edited}`;
  const podsOf = new Map(rows.map((row) => [workloadKey(row), row.pods]));
  const started = branches.flatMap(({ state, title, style }) => {
    const inStage = members.filter(({ stage }) => stage.state === state);
    const until = Math.min(...inStage.map(({ stage }) => (stage.state === "soaking" ? stage.until : Infinity)));
    const left = until > now && Number.isFinite(until) ? ` ${age(until - now)} left` : "";
    return inStage.length === 0 ? [] : [{ title: `${title}${left}`, style, members: inStage }];
  });
  const waiting = members.filter(({ stage }) => ["due", "heldElsewhere", "held"].includes(stage.state));
  const next = [...Map.groupBy(waiting, ({ key }) => batches.get(key))]
    .toSorted(([a = Infinity], [b = Infinity]) => a - b)
    .map(([batch, members]) => ({
      title: batch === undefined ? "held" : `batch ${batch}`,
      style: "dim" as const,
      members,
    }));
  const all = [...started, ...next];
  const width = Math.max(...all.map(({ title }) => title.length));
  return [
    paint("bold", printable(head)),
    ...all.map(({ title, style, members }, index) => {
      const names = members.slice(0, shownWorkloads).map(({ key, stage }) => {
        const { kind, name } = parseWorkloadKey(key);
        const pods = stage.state === "passed" ? null : podsOf.get(key);
        return `${kind.toLowerCase()}/${name}${pods ? ` ${pods.current}/${pods.total}` : ""}`;
      });
      const rest = members.length - names.length;
      const text = printable(`${names.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`);
      return `${index === all.length - 1 ? "└──" : "├──"} ${paint(style, title.padEnd(width))}  ${text}`;
    }),
  ];
}
