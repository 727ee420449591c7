// Where each entry of the timeline is drawn. Pure: in pixels, from times in milliseconds since the epoch.
import type { TimelineEntry } from "../../../src/cli/ui/model.ts";

/** The most entries that are drawn: the newest ones. */
export const mostDrawn = 2000;

/** An entry with its place. Moments have no width. */
export interface Drawn {
  readonly entry: TimelineEntry;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** The text beside it; "" if there is no room for one. It ends before the entry if `isBefore`. */
  readonly label: string;
  readonly isBefore: boolean;
}

/** The entries of one namespace: edits above, rollouts and halts below them, holds at the bottom. */
export interface Lane {
  readonly key: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly y: number;
  readonly height: number;
  readonly drawn: readonly Drawn[];
  /** Lines from an edit to the rollouts that it caused. */
  readonly lines: readonly { readonly from: Drawn; readonly to: Drawn }[];
}

/** The picture. */
export interface Layout {
  readonly lanes: readonly Lane[];
  readonly height: number;
  readonly ticks: readonly { readonly x: number; readonly at: number }[];
}

/** The part of time that the picture shows. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const axis = 28;
const labelHeight = 22;
const editHeight = 18;
const rowHeight = 15;
const holdHeight = 8;
const smallestBar = 8;
const mostRows = 8;
/** The width of a character of a label, at most. */
const characterWidth = 6.6;
const shortestLabel = 8;
/** The space between an entry and a label. */
const labelGap = 8;

/** Returns the entries that touch the span, the oldest first. */
export function entriesIn(entries: readonly TimelineEntry[], { from, to }: Span): readonly TimelineEntry[] {
  return entries.filter((entry) => entry.at <= to && endOf(entry, to) >= from).toSorted((a, b) => a.at - b.at);
}

/** Places the entries that touch the span, of very many the newest ones. */
export function layOutTimeline(entries: readonly TimelineEntry[], { from, to }: Span, width: number): Layout {
  const scale = (at: number) => ((Math.min(to, Math.max(from, at)) - from) / (to - from)) * width;
  const visible = entriesIn(entries, { from, to }).slice(-mostDrawn);
  const byLane = Map.groupBy(visible, ({ cluster, namespace }) => `${cluster}\0${namespace}`);
  let y = axis;
  const lanes = [...byLane.keys()].sort().map((key): Lane => {
    const lane = layOutLane(key, byLane.get(key) ?? [], y, { to, width, scale });
    y += lane.height;
    return lane;
  });
  return { lanes, height: y, ticks: ticksOf({ from, to }, width).map((at) => ({ at, x: scale(at) })) };
}

function layOutLane(
  key: string,
  entries: readonly TimelineEntry[],
  top: number,
  { to, width, scale }: { readonly to: number; readonly width: number; readonly scale: (at: number) => number },
): Lane {
  const [cluster = "", namespace = ""] = key.split("\0");
  const place = (entry: TimelineEntry, y: number): Drawn => {
    const isBar = entry.type === "rollout" || entry.type === "hold";
    const x = scale(entry.at);
    return {
      entry,
      x,
      y,
      width: isBar ? Math.max(smallestBar, scale(endOf(entry, to)) - x) : 0,
      label: "",
      isBefore: false,
    };
  };
  const of = (...types: readonly TimelineEntry["type"][]) => entries.filter(({ type }) => types.includes(type));
  const editsAt = top + labelHeight;
  const edits = of("edit", "leader").map((entry) => place(entry, editsAt + editHeight / 2));
  const rollouts = packed(of("rollout", "halt"), editsAt + editHeight, rowHeight, place);
  const holdsAt = editsAt + editHeight + rollouts.rows * rowHeight + 4;
  const holds = packed(of("hold"), holdsAt, holdHeight, place);
  const [labelledEdits, labelledRollouts] = [edits, rollouts.drawn].map((drawn) => labelled(drawn, width)) as [
    readonly Drawn[],
    readonly Drawn[],
  ];
  const lines = rollouts.drawn.flatMap((rollout) => {
    const cause = edits.findLast(({ entry }) => entry.at <= rollout.entry.at && isCause(entry, rollout.entry));
    return cause === undefined ? [] : [{ from: cause, to: rollout }];
  });
  const height = holdsAt + holds.rows * holdHeight + 8 - top;
  return {
    key,
    cluster,
    namespace,
    y: top,
    height,
    drawn: [...labelledEdits, ...labelledRollouts, ...holds.drawn],
    lines,
  };
}

/** Adds labels where the neighbours of the same height leave room, after the entry or else before it. */
function labelled(drawn: readonly Drawn[], width: number): readonly Drawn[] {
  return [...Map.groupBy(drawn, ({ y }) => y).values()].flatMap((row) => {
    // Where the last label or entry ends.
    let taken = 0;
    return row.map((each, index) => {
      const text = labelOf(each.entry);
      const end = each.x + each.width + labelGap;
      const fitting = (room: number) => Math.floor((room - labelGap) / characterWidth);
      const [after, before] = [fitting((row[index + 1]?.x ?? width) - end), fitting(each.x - labelGap - taken)];
      const isBefore = after < text.length && before > after;
      const most = isBefore ? before : after;
      const label = most >= text.length ? text : most < shortestLabel ? "" : `${text.slice(0, most - 1)}…`;
      taken = end + (isBefore ? 0 : label.length * characterWidth);
      return { ...each, label, isBefore };
    });
  });
}

function labelOf({ type, about, details, by }: TimelineEntry): string {
  const parts = type === "edit" ? [about, details.join(", "), by ?? ""] : [about];
  return parts.filter((part) => part !== "").join(" · ");
}

/** Puts bars that overlap into rows of their own, up to a number of rows. */
function packed(
  entries: readonly TimelineEntry[],
  top: number,
  height: number,
  place: (entry: TimelineEntry, y: number) => Drawn,
): { readonly drawn: readonly Drawn[]; readonly rows: number } {
  const ends: number[] = [];
  const drawn = entries.map((entry) => {
    const { x, width } = place(entry, 0);
    const free = ends.findIndex((end) => end + 2 <= x);
    const row = free !== -1 ? free : Math.min(ends.length, mostRows - 1);
    ends[row] = Math.max(ends[row] ?? 0, x + Math.max(width, smallestBar));
    return place(entry, top + row * height + height / 2);
  });
  return { drawn, rows: Math.max(1, ends.length) };
}

/** Reports whether a rollout or halt names the edited object. */
function isCause(edit: TimelineEntry, { details }: TimelineEntry): boolean {
  const object = edit.about.toLowerCase();
  return edit.type === "edit" && details.some((detail) => detail.toLowerCase().split(" ")[0] === object);
}

/** Returns when an entry ends. A rollout or hold that lasts ends with the picture; a moment ends at once. */
function endOf({ type, at, endedAt }: TimelineEntry, to: number): number {
  return endedAt ?? (type === "rollout" || type === "hold" ? to : at);
}

const minute = 60_000;
const steps = [1, 5, 15, 30, 60, 180, 360, 720, 1440, 2880, 10_080].map((minutes) => minutes * minute);

/** Returns the times of the vertical lines, at round times, at least 90 pixels apart. */
function ticksOf({ from, to }: Span, width: number): readonly number[] {
  const most = Math.max(1, Math.floor(width / 90));
  const step = steps.find((each) => (to - from) / each <= most) ?? (steps.at(-1) as number);
  const offset = new Date(to).getTimezoneOffset() * minute;
  const first = Math.ceil((from - offset) / step) * step + offset;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, index) => first + index * step);
}
