import type { DashboardPanel } from "../../monitoring/dashboard.ts";

/** A rectangle of a picture. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** The sizes of a picture, and the places of its panels. */
export interface Look {
  readonly width: number;
  readonly margin: number;
  /** Font size of a panel's title. */
  readonly title: number;
  /** Font size of legends and axes. */
  readonly small: number;
  /** Returns the boxes of the panels in their order, and the height of the picture. */
  readonly place: (panels: readonly DashboardPanel[]) => { readonly boxes: readonly Box[]; readonly height: number };
}

/** Colors of series: in the light theme and in the dark theme. The seventh series has the colors of the first. */
export const colors = [
  ["#2b7a3f", "#7cc492"],
  ["#b7791f", "#eab839"],
  ["#1f7a8c", "#6cc5d6"],
  ["#b3372b", "#e2857b"],
  ["#3461b3", "#86aef0"],
  ["#9a3f8b", "#d993cc"],
] as const;

const gap = 6;
const header = 34;

/** The picture for a wide screen, with the grid of the dashboard. */
export const wide: Look = { width: 776, margin: 10, title: 11, small: 10.5, place: inGrid };

/** The picture for a phone, with one column, as Grafana shows a dashboard there. */
export const phone: Look = { width: 460, margin: 10, title: 15, small: 13.5, place: inOneColumn };

function inGrid(panels: readonly DashboardPanel[]) {
  const [unit, unitHeight] = [(wide.width - 2 * wide.margin + gap) / 24, 20];
  const boxes = panels.map(({ type, gridPos: { x, y, w, h } }) => ({
    x: wide.margin + x * unit,
    y: header + y * unitHeight,
    w: w * unit - gap,
    h: h * unitHeight - (type === "row" ? 0 : gap),
  }));
  return { boxes, height: bottom(boxes) + 30 };
}

function inOneColumn(panels: readonly DashboardPanel[]) {
  const { width, margin } = phone;
  const whole = width - 2 * margin;
  const heights = { row: 24, stat: 52, timeseries: 140 } as const;
  const boxes: Box[] = [];
  for (const { type } of panels) {
    const before = boxes.at(-1);
    // Two stats are side by side.
    const isSecond = type === "stat" && before?.x === margin && before.w < whole;
    const w = type === "stat" ? (whole - gap) / 2 : whole;
    const y = isSecond ? before.y : before === undefined ? header : before.y + before.h + gap;
    boxes.push({ x: isSecond ? margin + w + gap : margin, y, w, h: heights[type] });
  }
  return { boxes, height: bottom(boxes) + 50 };
}

function bottom(boxes: readonly Box[]): number {
  return Math.max(...boxes.map(({ y, h }) => y + h));
}

/** Estimates the width of a text. No usual font is wider. */
export function widthOf(text: string, fontSize: number): number {
  return Math.ceil(text.length * fontSize * 0.61);
}

/** Breaks a text between words into lines that fit a width. */
export function wrapped(text: string, width: number, fontSize: number): readonly string[] {
  const [first = "", ...words] = text.split(" ");
  const lines = [first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (widthOf(longer, fontSize) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
