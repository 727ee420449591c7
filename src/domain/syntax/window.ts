import { boundedMemo } from "./json.ts";
import { type OffsetAt, utcNames, zoneOffset } from "./time.ts";

/** The times of the week when workloads may be rolled. */
export interface Window {
  /** The text of the window, with single spaces. */
  readonly text: string;
  readonly times: readonly WindowTimes[];
}

/** One daily time range on some days of the week, in local time of a time zone. */
interface WindowTimes {
  /** 0 is Sunday. */
  readonly days: ReadonlySet<number>;
  /** Start and end, in minutes of the day. If `to` is not after `from`, it is on the next day. */
  readonly from: number;
  readonly to: number;
  /** A name in the IANA database. */
  readonly zone: string;
}

const dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const minutesOfDay = 1_440;

/** Limit of ranges in one window. Each may have its own time zone, which is the most expensive part. */
const maxRanges = 20;

/**
 * Parses `DAYS HH:MM-HH:MM [ZONE]`; semicolons separate several ranges. Returns undefined if the text is invalid. Days are for
 * example `Mon-Fri` or `Sat,Sun`. A zone is a name in the IANA database; the default is UTC. `24:00` is the end of a day. A
 * range that ends before it begins ends on the next day.
 */
export const parseWindow = boundedMemo(64, (text): Window | undefined => {
  const parts = text
    .split(";")
    .map((part) => part.trim().split(/\s+/))
    .filter(([first]) => first !== "");
  if (parts.length === 0 || parts.length > maxRanges) return undefined;
  const times = parts.map(readTimes);
  if (!times.every((each) => each !== undefined)) return undefined;
  return { text: parts.map((part) => part.join(" ")).join("; "), times };
});

function readTimes([daysText = "", hours = "", zone = "UTC", ...rest]: readonly string[]): WindowTimes | undefined {
  const days = readDays(daysText);
  const [from, to, ...more] = hours.split("-").map(readMinutes);
  if (days === undefined || from === undefined || to === undefined || more.length > 0 || rest.length > 0)
    return undefined;
  // No range can begin at the end of a day. A range from 10:00 to 10:00 is ambiguous: a whole day or no time at all.
  if (from === minutesOfDay || from === to) return undefined;
  return zoneOffset(zone) === undefined ? undefined : { days, from, to, zone };
}

/** Parses days such as `Mon-Fri`, `Sat,Sun`, `Fri-Mon` or `Mon-Wed,Fri`. 0 is Sunday. */
function readDays(text: string): ReadonlySet<number> | undefined {
  const days = new Set<number>();
  for (const range of text.toLowerCase().split(",")) {
    const [first, last = first, ...more] = range.split("-").map((day) => dayNames.indexOf(day));
    if (first === undefined || last === undefined || first < 0 || last < 0 || more.length > 0) return undefined;
    for (let day = first; ; day = (day + 1) % dayNames.length) {
      days.add(day);
      if (day === last) break;
    }
  }
  return days;
}

function readMinutes(text: string): number | undefined {
  const [, hours, minutes] = /^(\d\d):(\d\d)$/.exec(text) ?? [];
  const total = Number(hours) * 60 + Number(minutes);
  return Number(minutes) < 60 && total <= minutesOfDay ? total : undefined;
}

const minute = 60_000;
const day = 86_400_000;

/** 1970-01-01 was a Thursday. */
const firstDay = 4;

/** How far ahead to search for an opening. Without changes of clocks, a range opens again one week later. */
const searchLimit = 22 * day;

/** Reports whether a window is open at `now`, in milliseconds since the epoch. */
export function isOpen(window: Window, now: number): boolean {
  return window.times.some((times) => isOn(times, now, clockOf(times)));
}

/**
 * Returns when a window opens next, in milliseconds since the epoch. Local clocks decide: a range that they skip in spring opens when they have
 * changed, and a range that they show twice in autumn opens twice. If the window does not open within 22 days, the
 * function returns the end of those days.
 */
export function opensAt(window: Window, now: number): number {
  return Math.min(...window.times.map((times) => firstOpening(times, now)));
}

/**
 * Returns a moment in which a window is open, as the clock of the open range shows it: `Tue 03:00 Europe/Berlin`. Names the start of a range
 * that this clock skips. Returns undefined if that clock shows UTC, or if the window is closed.
 */
export function localTime({ times }: Window, at: number): string | undefined {
  const open = times.find((each) => isOn(each, at, clockOf(each)));
  if (open === undefined || utcNames.has(open.zone)) return undefined;
  const local = new Date(at + clockOf(open)(at)).toUTCString();
  const shown = `${local.slice(0, 3)} ${local.slice(17, 22)} ${open.zone}`;
  if (skippedUntil(open, at, clockOf(open)) === undefined) return shown;
  return `${shown}, because the clock skips ${new Date(open.from * minute).toISOString().slice(11, 16)}`;
}

/**
 * Returns when an open window closes by its local clocks, in milliseconds since the epoch. The result is at most one day after
 * `now`, even if the window stays open longer.
 */
export function closesAt(window: Window, now: number): number {
  let at = now;
  while (at < now + day && isOpen(window, at)) {
    at = Math.min(...window.times.map((times) => closingStep(times, at)));
  }
  return Math.min(at, now + day);
}

function firstOpening(times: WindowTimes, now: number): number {
  const offsetAt = clockOf(times);
  let at = now;
  while (at < now + searchLimit && !isOn(times, at, offsetAt)) at = nextStep(times.from, at, offsetAt);
  return at;
}

function closingStep(times: WindowTimes, at: number): number {
  return skippedUntil(times, at, clockOf(times)) ?? nextStep(times.to, at, clockOf(times));
}

function isOn(times: WindowTimes, at: number, offsetAt: OffsetAt): boolean {
  return covers(times, at + offsetAt(at)) || skippedUntil(times, at, offsetAt) !== undefined;
}

/** Reports whether the times include a local clock reading, in milliseconds since the local 1970-01-01 00:00. */
function covers({ days, from, to }: WindowTimes, localMs: number): boolean {
  const today = Math.floor(localMs / day);
  const minutes = Math.floor((localMs - today * day) / minute);
  if (from < to) return isDay(days, today) && from <= minutes && minutes < to;
  return (isDay(days, today) && from <= minutes) || (isDay(days, today - 1) && minutes < to);
}

function isDay(days: ReadonlySet<number>, date: number): boolean {
  return days.has((((date + firstDay) % 7) + 7) % 7);
}

/**
 * Returns when a range closes that its clock has skipped as a whole, because the clock went forward. The range opens in the first minute after
 * the skipped ones, for as long as it lasts in other weeks. Returns undefined if no such range is open at `at`.
 */
function skippedUntil({ days, from, to }: WindowTimes, at: number, offsetAt: OffsetAt): number | undefined {
  const length = (to * minute - from * minute + day) % day;
  const [before, after] = [offsetAt(at - length), offsetAt(at)];
  if (length > after - before || length === 0) return undefined;
  const change = changeBetween(at - length, at, offsetAt);
  const date = Math.floor((change + before) / day);
  const isSkipped = [date, date + 1].some((each) => {
    const start = each * day + from * minute;
    return isDay(days, each) && start >= change + before && start + length <= change + after;
  });
  return isSkipped ? change + length : undefined;
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
  // Whole milliseconds: between others, the middle may be the lower one again and again.
  let [low, high] = [Math.floor(before), Math.ceil(after)];
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
