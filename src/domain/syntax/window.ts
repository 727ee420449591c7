import { boundedMemo } from "./bounded-memo.ts";
import { zoneOffset } from "./time-zone.ts";

/** The times of the week when workloads may be rolled. */
export interface Window {
  /** The text of the window, with single spaces. */
  readonly text: string;
  readonly times: readonly WindowTimes[];
}

/** One daily time range on some days of the week, in local time of a time zone. */
export interface WindowTimes {
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
  const times: WindowTimes[] = [];
  for (const part of parts) {
    const read = readTimes(part);
    if (read === undefined) return undefined;
    times.push(read);
  }
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
