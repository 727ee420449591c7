// How the page names, colors and orders the states of workloads: over the table that all commands share.
import { workloadStates } from "../../src/cli/cluster/states/state-rows.ts";
import type { Model, WorkloadRow } from "../../src/cli/ui/model.ts";

/** The meaning of a color: red needs a person; yellow ends by itself or is intended. */
export type Tone = "red" | "yellow" | "cyan" | "green" | "dim";

/** The columns of a state, under names that a newer server may send. */
const rows: Readonly<Record<string, { readonly style: string; readonly means: string; readonly next: string }>> =
  workloadStates;

const tones: readonly Tone[] = ["red", "yellow", "cyan", "green", "dim"];
const order = Object.keys(rows);

/** Returns the color of a state; dim if the page does not know the state. */
export function toneOf(state: string): Tone {
  return tones.find((tone) => tone === rows[state]?.style) ?? "dim";
}

/** Returns the meaning of a state in one sentence; "" if the page does not know the state. */
export function meaningOf(state: string): string {
  return rows[state]?.means ?? "";
}

/** Returns what the reader of a state does next; "" if there is nothing to do. */
export function nextOf(state: string): string {
  return rows[state]?.next ?? "";
}

/** The state by which rows are counted and filtered: a held workload also has the reason of its hold. */
export function stateKey({ state, because }: Pick<WorkloadRow, "state" | "because">): string {
  return state === "held" && because !== null ? `held:${because}` : state;
}

/** The reasons of holds that halt a change. */
const halts: readonly (string | null)[] = ["halted", "validator"];

/** Reports whether the reason of a hold is that the change is halted. */
export function isHalt(because: string | null): boolean {
  return halts.includes(because);
}

/** Returns the color of a row. A hold that a person must end is as urgent as a failure. */
export function toneOfRow({ state, because, needsPerson }: WorkloadRow): Tone {
  return needsPerson && isHalt(because) ? "red" : toneOf(state);
}

/** Returns the workloads in the order of their names. */
export function byName(workloads: Model["workloads"]): readonly WorkloadRow[] {
  return Object.values(workloads)
    .map((row) => ({ row, key: `${row.cluster}\0${row.namespace}\0${row.name}\0${row.kind}` }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ row }) => row);
}

/** Returns the rows that need a person, the most urgent states first. The order is stable while the states are. */
export function byUrgency(rowsByName: readonly WorkloadRow[]): readonly WorkloadRow[] {
  // What failed is the cause of what is halted.
  const rank = (row: WorkloadRow) =>
    tones.indexOf(toneOfRow(row)) * 100 + (row.state === "failed" ? -1 : order.indexOf(row.state));
  return rowsByName.filter(({ needsPerson }) => needsPerson).toSorted((a, b) => rank(a) - rank(b));
}

/** The filters of rows. "" stands for no filter. */
export interface Filters {
  readonly cluster: string;
  readonly namespace: string;
  readonly state: string;
  readonly text: string;
}

/** Reports whether a row passes the filters, except that of the state if `anyState`. */
export function passes(row: WorkloadRow, { cluster, namespace, state, text }: Filters, anyState = false): boolean {
  if (cluster !== "" && row.cluster !== cluster) return false;
  if (namespace !== "" && row.namespace !== namespace) return false;
  if (!anyState && state !== "" && stateKey(row) !== state && row.state !== state) return false;
  const searched = text.trim().toLowerCase();
  if (searched === "") return true;
  const texts = [`${row.kind}/${row.name}`, row.namespace, row.message, ...row.reads];
  return texts.some((each) => each.toLowerCase().includes(searched));
}

/** Returns the rows of each state, the most urgent color first. */
export function groupByState(rowsInOrder: readonly WorkloadRow[]): ReadonlyMap<string, readonly WorkloadRow[]> {
  const groups = [...Map.groupBy(rowsInOrder, stateKey)];
  const rank = ([first]: readonly WorkloadRow[]) => (first === undefined ? 0 : tones.indexOf(toneOfRow(first)));
  return new Map(groups.sort(([, a], [, b]) => rank(a) - rank(b)));
}

/** Returns a workload as commands take it, for example `deployment/web`. */
export function nameOf({ kind, name }: Pick<WorkloadRow, "kind" | "name">): string {
  return `${kind.toLowerCase()}/${name}`;
}
