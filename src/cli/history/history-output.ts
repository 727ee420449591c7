import { formatDuration } from "../../domain/syntax/duration.ts";
import { age } from "../output/age.ts";
import type { Paint, Style } from "../output/paint.ts";
import { tableLines } from "../output/table.ts";
import type { ConfigMapChange, HistoryEntry, RevisionRollout, RevisionState } from "./workload-history.ts";

/** The words and colors of states in the table. */
const shownStates: Readonly<Record<RevisionState, readonly [word: string, style: Style]>> = {
  current: ["current", "green"],
  rollingOut: ["rolling out", "cyan"],
  failed: ["failed", "red"],
  rolledBack: ["rolled back", "yellow"],
  old: ["old", "dim"],
};

/** What the last column of the table shows for a revision without a change of a ConfigMap. */
const causes: Readonly<Record<HistoryEntry["cause"], string>> = {
  first: "-",
  configMaps: "",
  template: "pod template",
  mixed: "Pods might have run an earlier configuration",
  other: "other configuration",
  unknown: "unknown",
};

/** How many keys a line names. */
const shownKeys = 3;

const gap = 2;

/** Returns a history as a table, one line for each changed ConfigMap. `now` is in milliseconds since the epoch. */
export function renderHistory(entries: readonly HistoryEntry[], now: number, paint: Paint): string {
  const heading = ["REVISION", "AGE", "HASH", "PODS", "STATE", "RESULT", "EDITED BY", "CHANGES"];
  const stateColumn = heading.indexOf("STATE");
  const lines = entries.flatMap((entry) => rowsOf(entry, now).map((cells, index) => ({ cells, entry, index })));
  return tableLines([heading, ...lines.map(({ cells }) => cells)], gap, (text, row, column) => {
    if (row === 0) return paint("bold", text);
    const { entry, index } = lines[row - 1] ?? {};
    return entry !== undefined && index === 0 && column === stateColumn
      ? paint(shownStates[entry.state][1], text)
      : text;
  })
    .map((line) => `${line}\n`)
    .join("");
}

function rowsOf(entry: HistoryEntry, now: number): readonly (readonly string[])[] {
  const { revision, createdAt, hash, state, rollout } = entry;
  const changes = changesOf(entry);
  const [first, ...others] = changes.length === 0 ? [["-", whyOf(entry)]] : changes;
  const head = [
    String(revision),
    createdAt === null ? "-" : age(now - Date.parse(createdAt)),
    hash === null ? "-" : hash.slice(hash.indexOf(":") + 1).slice(0, 8),
    podsCell(entry),
    shownStates[state][0],
    resultCell(rollout),
  ];
  return [[...head, ...(first ?? [])], ...others.map((cells) => [...head.map(() => ""), ...cells])];
}

/** Returns the cells of the changes: what the pinned copies show, and what Wave recorded of other objects. */
function changesOf({ changes, rollout }: HistoryEntry): readonly (readonly string[])[] {
  const { edits = [], heldBy = null } = rollout ?? {};
  const editOf = ({ name }: ConfigMapChange) => edits.find((edit) => edit.kind === "ConfigMap" && edit.name === name);
  const compared = changes.map((change) => changeCells(change, editOf(change)?.editedBy ?? null));
  const shown = changes.map(editOf);
  const recorded = edits
    .filter((edit) => !shown.includes(edit))
    .map(({ kind, name, keys, editedBy }) => {
      const object = kind === "ConfigMap" ? name : `${kind.toLowerCase()}/${name}`;
      return [editedBy ?? "-", keys.length === 0 ? object : `${object}: ${shortList(keys)}`];
    });
  const held = heldBy === null ? [] : [["-", `held by ${heldBy}`]];
  return [...compared, ...recorded, ...held];
}

/** Returns why there is a revision, on one line: what changed and who edited it, or the reason of Wave. */
export function causeText(entry: HistoryEntry): string {
  const changes = changesOf(entry).map(([by, text]) => (by === "-" ? text : `${text} (${by})`));
  return changes.join("; ") || whyOf(entry);
}

/** Returns how a revision is or ended, on one line: `complete in 24s`, `rolling out`. */
export function resultText({ state, rollout }: HistoryEntry): string {
  return rollout === null || rollout.end === null ? shownStates[state][0] : resultCell(rollout);
}

function whyOf({ cause, rollout }: HistoryEntry): string {
  return rollout === null ? causes[cause] : rollout.why;
}

/** Returns how a rollout ended: `complete in 24s`, `failed: web-7f CrashLoopBackOff`. */
function resultCell(rollout: RevisionRollout | null): string {
  if (rollout === null || rollout.end === null) return "-";
  const { result, at, why } = rollout.end;
  if (result === "failed") return why === null ? result : `${result}: ${why}`;
  return at === null
    ? result
    : `${result} in ${formatDuration(Math.max(1_000, Date.parse(at) - Date.parse(rollout.startedAt)))}`;
}

/** Returns the number of Pods, and how many of them read live configuration although their revision is pinned. */
function podsCell({ pods, pinning }: HistoryEntry): string {
  if (pods === null) return "-";
  const live = pinning === null ? 0 : pinning.unpinned + pinning.partlyPinned;
  return live === 0 ? String(pods) : `${pods} (${live} live)`;
}

function changeCells(change: ConfigMapChange, editor: string | null): readonly string[] {
  return [change.editedBy ?? editor ?? "-", describeChange(change)];
}

/** Returns what changed in a ConfigMap: `page: color, +title`. */
function describeChange({ name, how, added, removed, changed }: ConfigMapChange): string {
  const texts = {
    changed: shortList([...changed, ...added.map((key) => `+${key}`), ...removed.map((key) => `-${key}`)]),
    pinned: "first pinned",
    unpinned: "no longer pinned",
    unknown: "unknown: a copy is gone",
  };
  return `${name}: ${texts[how]}`;
}

function shortList(keys: readonly string[]): string {
  const rest = keys.length - shownKeys;
  return keys.slice(0, shownKeys).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
