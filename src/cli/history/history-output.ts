import { age } from "../output/age.ts";
import type { Paint, Style } from "../output/paint.ts";
import { tableLines } from "../output/table.ts";
import type { ConfigMapChange, HistoryEntry, RevisionState } from "./workload-history.ts";

/** The words and colors of states in the table. */
const states: Readonly<Record<RevisionState, readonly [word: string, style: Style]>> = {
  current: ["current", "green"],
  rollingOut: ["rolling out", "cyan"],
  failed: ["failed", "red"],
  rolledBack: ["rolled back", "yellow"],
  old: ["old", "dim"],
};

/** What the last column shows for a revision without a change of a ConfigMap. */
const causes: Readonly<Record<HistoryEntry["cause"], string>> = {
  first: "-",
  configMaps: "",
  template: "pod template",
  other: "other configuration",
  unknown: "unknown: not pinned",
};

/** How many keys a line names. */
const shownKeys = 3;

const gap = 2;

/** Returns a history as a table, one line for each changed ConfigMap. `now` is in milliseconds since the epoch. */
export function renderHistory(entries: readonly HistoryEntry[], now: number, paint: Paint): string {
  const heading = ["REVISION", "AGE", "HASH", "PODS", "STATE", "EDITED BY", "CHANGES"];
  const stateColumn = heading.indexOf("STATE");
  const lines = entries.flatMap((entry) => rowsOf(entry, now).map((cells, index) => ({ cells, entry, index })));
  return tableLines([heading, ...lines.map(({ cells }) => cells)], gap, (text, row, column) => {
    if (row === 0) return paint("bold", text);
    const { entry, index } = lines[row - 1] ?? {};
    return entry !== undefined && index === 0 && column === stateColumn ? paint(states[entry.state][1], text) : text;
  })
    .map((line) => `${line}\n`)
    .join("");
}

function rowsOf(entry: HistoryEntry, now: number): readonly (readonly string[])[] {
  const { revision, createdAt, hash, state, changes, cause } = entry;
  const [first, ...others] = changes.length === 0 ? [["-", causes[cause]]] : changes.map(changeCells);
  const head = [
    String(revision),
    createdAt === null ? "-" : age(now - Date.parse(createdAt)),
    hash === null ? "-" : hash.slice(hash.indexOf(":") + 1).slice(0, 8),
    podsCell(entry),
    states[state][0],
  ];
  return [[...head, ...(first ?? [])], ...others.map((cells) => [...head.map(() => ""), ...cells])];
}

/** Returns the number of Pods, and how many of them read live configuration although their revision is pinned. */
function podsCell({ pods, pinning }: HistoryEntry): string {
  if (pods === null) return "-";
  const live = pinning === null ? 0 : pinning.unpinned + pinning.partlyPinned;
  return live === 0 ? String(pods) : `${pods} (${live} live)`;
}

function changeCells({ name, how, added, removed, changed, editedBy }: ConfigMapChange): readonly string[] {
  const keys = [...changed, ...added.map((key) => `+${key}`), ...removed.map((key) => `-${key}`)];
  const rest = keys.length - shownKeys;
  const shown = keys.slice(0, shownKeys).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
  const texts = {
    changed: shown,
    pinned: "first pinned",
    unpinned: "no longer pinned",
    unknown: "unknown: a copy is gone",
  };
  return [editedBy ?? "-", `${name}: ${texts[how]}`];
}
