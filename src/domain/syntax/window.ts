import { remembering } from "./bounded-memo.ts";
import { clocksOf } from "./time-zone.ts";

/** Times of the week at which workloads may be rolled. */
export interface Window {
  /** As it is written, with single spaces. */
  readonly text: string;
  readonly times: readonly Times[];
}

/** The same times on some days of the week, as the clocks of a time zone show them. */
export interface Times {
  /** 0 is Sunday. */
  readonly days: ReadonlySet<number>;
  /** Minutes of the day. Where `to` is not after `from` it is one of the next day. */
  readonly from: number;
  readonly to: number;
  /** Of the IANA database. */
  readonly zone: string;
}

const dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const minutesOfDay = 1_440;

/** Each may have a time zone of its own, and those cost the most. */
const mostTimes = 20;

/**
 * Reads `DAYS HH:MM-HH:MM [ZONE]`, several by semicolons; undefined where the text is no such thing. Days are `Mon-Fri`,
 * `Sat,Sun` and the like, a zone is one of the IANA database and UTC where there is none, `24:00` is the end of a day, and times
 * that end before they begin end on the next day.
 */
export const parseWindow = remembering(64, (text): Window | undefined => {
  const parts = text
    .split(";")
    .map((part) => part.trim().split(/\s+/))
    .filter(([first]) => first !== "");
  if (parts.length === 0 || parts.length > mostTimes) return undefined;
  const times: Times[] = [];
  for (const part of parts) {
    const read = readTimes(part);
    if (read === undefined) return undefined;
    times.push(read);
  }
  return { text: parts.map((part) => part.join(" ")).join("; "), times };
});

function readTimes([daysText = "", hours = "", zone = "UTC", ...rest]: readonly string[]): Times | undefined {
  const days = readDays(daysText);
  const [from, to, ...more] = hours.split("-").map(readMinutes);
  if (days === undefined || from === undefined || to === undefined || more.length > 0 || rest.length > 0)
    return undefined;
  // Nothing begins at the end of a day, and from 10:00 to 10:00 may be a whole day or none.
  if (from === minutesOfDay || from === to) return undefined;
  return clocksOf(zone) === undefined ? undefined : { days, from, to, zone };
}

/** `Mon-Fri`, `Sat,Sun`, `Fri-Mon`, `Mon-Wed,Fri`. */
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
  const all = Number(hours) * 60 + Number(minutes);
  return Number(minutes) < 60 && all <= minutesOfDay ? all : undefined;
}
