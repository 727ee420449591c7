import { type Box, colors, type Look, widthOf } from "./dashboard-layout.ts";
import { escaped } from "./terminal-picture.ts";
import { scaleFor } from "./units.ts";

/** One series of a chart. */
export interface Line {
  readonly name: string;
  /** Seconds since the start, and values. NaN is a gap. */
  readonly points: readonly { readonly at: number; readonly value: number }[];
}

/** A chart below the title of a panel. */
interface Chart {
  readonly lines: readonly Line[];
  readonly isStacked: boolean;
  /** Unit identifier of Grafana. */
  readonly unit: string;
  readonly box: Box;
  readonly look: Look;
  /** Length of the time axis. */
  readonly seconds: number;
}

/** Returns axes from 0, lines and a legend. The series with the largest values are first in the legend. */
export function lineChart({ lines, isStacked, unit, box, look, seconds }: Chart): string {
  const { small, title } = look;
  const ordered = lines.toSorted((a, b) => highest(b) - highest(a));
  const shapes = isStacked ? stacked(ordered) : ordered.map((line) => ({ ...line, base: [] }));
  const most = Math.max(0, ...shapes.map(highest));
  const scale = scaleFor(unit, most);
  const legend = legendOf(ordered, box, look);
  const [right, top, bottom] = [box.w - 12, title + small + 9, box.h - legend.height - small - 7];
  const step = tickStep(most / scale.divisor, (bottom - top) / (1.8 * small)) * scale.divisor;
  const ticks = Array.from({ length: Math.max(1, Math.ceil(most / step)) + 1 }, (_, at) => at * step);
  const left = 12 + Math.max(...ticks.map((tick) => widthOf(scale.text(tick), small)));
  const x = (at: number) => (left + ((right - left) * at) / seconds).toFixed(1);
  const y = (value: number) => (bottom - ((bottom - top) * value) / (ticks.at(-1) ?? 1)).toFixed(1);
  const text = (content: string, at: string, baseline: number, anchor: string) =>
    `<text class="small" x="${at}" y="${baseline.toFixed(1)}" text-anchor="${anchor}">${content}</text>`;
  const values = ticks.map(
    (tick) =>
      `<path class="grid" d="M${left} ${y(tick)}H${right}"/>${text(scale.text(tick), `${left - 4}`, Number(y(tick)) + small / 3, "end")}`,
  );
  const times = Array.from({ length: Math.floor(seconds / 30) + 1 }, (_, at) =>
    text(clock(at * 30), x(at * 30), bottom + small + 3, "middle"),
  );
  const path = (points: Line["points"]) =>
    points
      .filter(({ value }, at) => value !== points[at - 1]?.value || value !== points[at + 1]?.value)
      .map(({ at, value }) => `${x(at)} ${y(value)}`)
      .join("L");
  const drawn = new Set<string>();
  const series = shapes.flatMap((shape, index) => {
    const color = `c${index % colors.length}`;
    const around = [...shape.points, ...shape.base.toReversed()];
    const area = shape.base.length > 0 ? `<path class="area ${color}" d="M${path(around)}Z"/>` : "";
    // A line of no length shows a single value. Many series are always 0 and have one line.
    const parts = withoutGaps(shape.points).map((part) => `M${path(part)}${part.length === 1 ? "h0" : ""}`);
    const line = parts.join("");
    if (drawn.has(line)) return [];
    drawn.add(line);
    return [`${area}<path class="line ${color}" d="${line}"/>`];
  });
  return [...values, ...times, ...series.toReversed(), legend.markup].join("\n      ");
}

function highest({ points }: Pick<Line, "points">): number {
  return Math.max(0, ...points.map(({ value }) => value).filter((value) => value > 0));
}

/** Adds to each series the ones before it. `base` is the lower edge of its area; a series that is always 0 has no area. */
function stacked(lines: readonly Line[]): readonly (Line & { readonly base: Line["points"] })[] {
  const sums = new Map<number, number>();
  return lines.map((line) => {
    const base = line.points.map(({ at }) => ({ at, value: sums.get(at) ?? 0 }));
    for (const { at, value } of line.points) sums.set(at, (sums.get(at) ?? 0) + value);
    const points = line.points.map(({ at }) => ({ at, value: sums.get(at) ?? 0 }));
    return { name: line.name, points, base: highest(line) > 0 ? base : [] };
  });
}

function withoutGaps(points: Line["points"]): readonly Line["points"][] {
  const parts: Line["points"][number][][] = [[]];
  for (const point of points) {
    if (Number.isNaN(point.value)) parts.push([]);
    else parts.at(-1)?.push(point);
  }
  return parts.filter((part) => part.length > 0);
}

/** Returns the distance between the lines of a grid, so that at most `count` but at least one of them are above 0. */
function tickStep(most: number, count: number): number {
  if (most <= 0) return 1;
  const least = most / Math.max(1, Math.floor(Math.min(count, 3)));
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 2.5, 5].find((factor) => factor * power >= least) ?? 10) * power;
}

/**
 * Returns at most two rows of names, and the number of the other series. If the names of all series need more space, it leaves out the
 * series that are always 0.
 */
function legendOf(
  lines: readonly Line[],
  box: Box,
  { small }: Look,
): { readonly markup: string; readonly height: number } {
  const most = lines.filter((line) => highest(line) > 0).length || lines.length;
  const counts = [lines.length, ...Array.from({ length: most }, (_, left) => most - left)];
  const [names = []] = counts
    .map((count) => placed(legendTexts(lines, count), box.w, small))
    .filter(({ length }) => length > 0);
  const rowHeight = small + 4;
  const height = ((names.at(-1)?.row ?? 0) + 1) * rowHeight + 4;
  const texts = names.map(({ text, x, row }, index) => {
    const y = box.h - height + (row + 1) * rowHeight - 3;
    const color = `c${index % colors.length}`;
    const key = text.startsWith("+")
      ? ""
      : `<rect class="key ${color}" x="${x}" y="${(y - small / 2).toFixed(1)}" width="8" height="3"/>`;
    return `${key}<text class="small" x="${key === "" ? x : x + 12}" y="${y.toFixed(1)}">${escaped(text)}</text>`;
  });
  return { markup: texts.join(""), height };
}

/** Returns the names of the first series, and a text about the others. */
function legendTexts(lines: readonly Line[], count: number): readonly string[] {
  const names = lines.slice(0, count).map(({ name }) => name);
  const others = lines.slice(count);
  if (others.length === 0) return names;
  return [...names, `+${others.length}${others.some((line) => highest(line) > 0) ? "" : " at 0"}`];
}

/** Places texts and their keys in two rows. Returns no text if there is not enough space for all. */
function placed(texts: readonly string[], width: number, small: number) {
  let [x, row] = [8, 0];
  const places = texts.map((text) => {
    const needed = 12 + widthOf(text, small);
    if (x > 8 && x + needed > width) [x, row] = [8, row + 1];
    const place = { text, x, row };
    x += needed + 10;
    return place;
  });
  return row < 2 ? places : [];
}

function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
