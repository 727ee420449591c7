import { type OffsetAt, utcNames, zoneOffset } from "./time-zone.ts";
import type { Window, WindowTimes } from "./window.ts";

const minute = 60_000;
const day = 86_400_000;

/** 1970-01-01 was a Thursday. */
const firstDay = 4;

/** How far ahead to search for an opening. A time that a clock change skips exists again one week later. */
const searchLimit = 22 * day;

/** Reports whether a window is open at `now`, in milliseconds since the epoch. */
export function isOpen(window: Window, now: number): boolean {
  return window.times.some((times) => covers(times, now + clockOf(times)(now)));
}

/**
 * Returns when a window opens next, in milliseconds since the epoch. Local clocks decide: a time that they skip in spring does not
 * open the window, and a time that they show twice in autumn opens it twice. If the window does not open within 22 days, the
 * function returns the end of those days.
 */
export function opensAt(window: Window, now: number): number {
  return Math.min(...window.times.map((times) => firstOpening(times, now)));
}

/**
 * Returns a moment in which a window is open, as the clock of the open range shows it: `Tue 03:00 Europe/Berlin`. Returns undefined if
 * that clock shows UTC, or if the window is closed.
 */
export function localTime({ times }: Window, at: number): string | undefined {
  const open = times.find((each) => covers(each, at + clockOf(each)(at)));
  if (open === undefined || utcNames.has(open.zone)) return undefined;
  const local = new Date(at + clockOf(open)(at)).toUTCString();
  return `${local.slice(0, 3)} ${local.slice(17, 22)} ${open.zone}`;
}

/**
 * Returns when an open window closes by its local clocks, in milliseconds since the epoch. The result is at most one day after
 * `now`, even if the window stays open longer.
 */
export function closesAt(window: Window, now: number): number {
  let at = now;
  while (at < now + day && isOpen(window, at)) {
    at = Math.min(...window.times.map((times) => nextStep(times.to, at, clockOf(times))));
  }
  return Math.min(at, now + day);
}

function firstOpening(times: WindowTimes, now: number): number {
  const offsetAt = clockOf(times);
  let at = now;
  while (at < now + searchLimit && !covers(times, at + offsetAt(at))) at = nextStep(times.from, at, offsetAt);
  return at;
}

/** Reports whether the times include a local clock reading, in milliseconds since the local 1970-01-01 00:00. */
function covers({ days, from, to }: WindowTimes, localMs: number): boolean {
  const today = Math.floor(localMs / day);
  const minutes = Math.floor((localMs - today * day) / minute);
  const on = (date: number) => days.has((((date + firstDay) % 7) + 7) % 7);
  if (from < to) return on(today) && from <= minutes && minutes < to;
  return (on(today) && from <= minutes) || (on(today - 1) && minutes < to);
}

/** Returns the next moment, within a day, when the clocks show the minute of the day or when the clocks change. */
function nextStep(minuteOfDay: number, at: number, offsetAt: OffsetAt): number {
  const localMs = at + offsetAt(at);
  const step = Math.floor(localMs / day) * day + minuteOfDay * minute;
  const next = at + (step > localMs ? step : step + day) - localMs;
  return offsetAt(next) === offsetAt(at) ? next : changeBetween(at, next, offsetAt);
}

/** Returns when the clocks change between two moments that have different offsets and are at most one day apart. */
function changeBetween(before: number, after: number, offsetAt: OffsetAt): number {
  const offset = offsetAt(before);
  let [low, high] = [before, after];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === offset) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the clock of a time zone. Parsing has checked that the zone exists, and the database does not change while Node runs. */
function clockOf({ zone }: WindowTimes): OffsetAt {
  return zoneOffset(zone) ?? (() => 0);
}
