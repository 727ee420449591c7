import { type TimelineEntry, timeOfDay } from "../cluster/timeline/timeline.ts";
import type { Paint, Style } from "../output/paint.ts";
import { tableLines } from "../output/table.ts";

/** Returns the color of an entry; undefined: none. */
function styleOf({ type, result }: TimelineEntry): Style | undefined {
  if (type === "halt" || result === "failed") return "red";
  if (type === "hold") return "yellow";
  if (type === "edit" || type === "leader") return "dim";
  return result === "complete" ? "green" : "cyan";
}

/** Returns one line for each entry. A time has its date if that differs from the date of the line before. */
export function renderTimeline(entries: readonly TimelineEntry[], withNamespace: boolean, paint: Paint): string {
  const rows = entries.map(({ at, namespace, about, text }, index) => [
    timeOfDay(at, entries[index - 1]?.at ?? at),
    ...(withNamespace ? [namespace] : []),
    `${about} ${text}`,
  ]);
  const last = withNamespace ? 2 : 1;
  return tableLines(rows, 2, (cell, row, column) => {
    const entry = entries[row];
    return entry !== undefined && column === last ? paint(styleOf(entry), cell) : cell;
  })
    .map((line) => `${line}\n`)
    .join("");
}

/** Returns an entry with times in RFC 3339. */
export function entryForProgram({ at, endedAt, ...entry }: TimelineEntry): object {
  const text = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  return { at: text(at), endedAt: endedAt === null ? null : text(endedAt), ...entry };
}
