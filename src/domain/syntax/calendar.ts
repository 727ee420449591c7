import { clocksOf, type OffsetAt } from "./time-zone.ts";
import type { Times, Window } from "./window.ts";

const minute = 60_000;
const day = 86_400_000;

/** 1970-01-01 was a Thursday. */
const firstDay = 4;

/** How far ahead an opening is looked for: times that a change of the clock leaves out are there a week later. */
const farthest = 22 * day;

/** Whether the clocks show a time of the window at a time, milliseconds since the epoch. */
export function isOpen(window: Window, now: number): boolean {
  return window.times.some((times) => covers(times, now + clocksFor(times)(now)));
}

/**
 * When a window opens, from a time on; milliseconds since the epoch. Its clocks decide: a time that they leave out in
 * spring does not open it, and one that they show twice in autumn opens it twice. A window that does not open within 22
 * days is said to open at the end of these.
 */
export function opensAt(window: Window, now: number): number {
  return Math.min(...window.times.map((times) => firstOpening(times, now)));
}

/**
 * When an open window closes, by its clocks; milliseconds since the epoch. At most a day from now, also where it stays
 * open longer.
 */
export function closesAt(window: Window, now: number): number {
  let at = now;
  while (at < now + day && isOpen(window, at)) {
    at = Math.min(...window.times.map((times) => nextStep(times.to, at, clocksFor(times))));
  }
  return Math.min(at, now + day);
}

function firstOpening(times: Times, now: number): number {
  const clocks = clocksFor(times);
  let at = now;
  while (at < now + farthest && !covers(times, at + clocks(at))) at = nextStep(times.from, at, clocks);
  return at;
}

/** Whether the times are those of a moment that local clocks show, as milliseconds since their 1970-01-01 00:00. */
function covers({ days, from, to }: Times, shown: number): boolean {
  const today = Math.floor(shown / day);
  const minutes = Math.floor((shown - today * day) / minute);
  const on = (date: number) => days.has((((date + firstDay) % 7) + 7) % 7);
  if (from < to) return on(today) && from <= minutes && minutes < to;
  return (on(today) && from <= minutes) || (on(today - 1) && minutes < to);
}

/** The next moment, within a day, at which times may begin or end: when the clocks show the minute of the day, or change. */
function nextStep(minuteOfDay: number, at: number, clocks: OffsetAt): number {
  const shown = at + clocks(at);
  const step = Math.floor(shown / day) * day + minuteOfDay * minute;
  const next = at + (step > shown ? step : step + day) - shown;
  return clocks(next) === clocks(at) ? next : changeBetween(at, next, clocks);
}

/** When the clocks change: between two moments, no more than a day apart, at which they differ. */
function changeBetween(before: number, after: number, clocks: OffsetAt): number {
  const offset = clocks(before);
  let [low, high] = [before, after];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (clocks(middle) === offset) low = middle;
    else high = middle;
  }
  return high;
}

/** What a window names was there when it was read; the database does not change while Node runs. */
function clocksFor({ zone }: Times): OffsetAt {
  return clocksOf(zone) ?? (() => 0);
}
