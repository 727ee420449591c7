import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { closesAt, isOpen, localTime, opensAt, parseWindow } from "./window.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
const days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/** Sundays on which clocks change, and an ordinary week. */
const places = [
  { zone: "Europe/Berlin", near: "2026-03-29T01:00:00Z" },
  { zone: "Europe/Berlin", near: "2026-10-25T01:00:00Z" },
  { zone: "America/New_York", near: "2026-03-08T07:00:00Z" },
  { zone: "America/New_York", near: "2026-11-01T06:00:00Z" },
  { zone: "Australia/Lord_Howe", near: "2026-04-04T15:00:00Z" },
  { zone: "Australia/Lord_Howe", near: "2026-10-03T15:30:00Z" },
  { zone: "Asia/Kathmandu", near: "2026-06-14T00:00:00Z" },
  { zone: "UTC", near: "2026-02-28T12:00:00Z" },
];

/** What a wall clock shows in each minute from 4 days before such a moment to 17 days after: `Mon 23:59`. */
const walls = places.map(({ zone, near }) => {
  const clock = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
  const first = Date.parse(near) - 4 * day;
  const shows = Array.from({ length: (21 * day) / minute }, (_, i) =>
    clock.format(first + i * minute).replace(",", ""),
  );
  return { zone, first, shows };
});

interface Drawn {
  readonly days: readonly string[];
  readonly from: number;
  readonly to: number;
}

const two = (number: number) => String(number).padStart(2, "0");
const hours = (minutes: number) => `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;

/** More often than not at night, when clocks change. */
const time = fc.oneof(fc.integer({ min: 0, max: 4 * 60 }), fc.integer({ min: 0, max: 24 * 60 }));
const drawn: fc.Arbitrary<Drawn> = fc
  .record({ days: fc.subarray(days, { minLength: 1 }), from: time, to: time })
  .filter(({ from, to }) => from !== to && from < 24 * 60);

/** Everything that a wall clock shows while the times last, minute by minute. */
function shownWhile(all: readonly Drawn[]): ReadonlySet<string> {
  const shown = new Set<string>();
  for (const { days: on, from, to } of all) {
    for (const first of on) {
      const length = to > from ? to - from : to + 24 * 60 - from;
      for (let i = 0; i < length; i++) {
        const at = from + i;
        const weekday = at < 24 * 60 ? first : days[(days.indexOf(first) + 1) % 7];
        shown.add(`${weekday} ${hours(at % (24 * 60))}`);
      }
    }
  }
  return shown;
}

const weekMinutes = 7 * 24 * 60;

/** The skips of each clock: the minute after, and the first skipped minute of the week with the number of skipped ones. */
const skips = walls.map(({ shows }) => {
  const ofWeek = shows.map((shown) => days.indexOf(shown.slice(0, 3)) * 24 * 60 + minutesOf(shown.slice(4)));
  return ofWeek.flatMap((after, index) => {
    const first = (ofWeek[index - 1] ?? after - 1) + 1;
    const skipped = (after - first + weekMinutes) % weekMinutes;
    // More is a clock that goes back.
    return skipped > 0 && skipped <= 120 ? [{ index, first, skipped }] : [];
  });
});

/** Returns the minutes in which a range is open that the clock skipped as a whole: from the first minute after, for its length. */
function openAfterSkip(all: readonly Drawn[], ofClock: (typeof skips)[number]): ReadonlySet<number> {
  const open = new Set<number>();
  for (const { index, first, skipped } of ofClock) {
    for (const { days: on, from, to } of all) {
      const length = to > from ? to - from : to + 24 * 60 - from;
      const starts = on.map((name) => (days.indexOf(name) * 24 * 60 + from - first + weekMinutes) % weekMinutes);
      if (starts.some((start) => start + length <= skipped)) for (let i = 0; i < length; i++) open.add(index + i);
    }
  }
  return open;
}

function minutesOf(shown: string): number {
  const [hour, minutes] = shown.split(":").map(Number);
  return (hour ?? 0) * 60 + (minutes ?? 0);
}

describe("a window, against a wall clock that is read every minute", () => {
  it("is open while the clock shows one of its times, opens in the first such minute and closes in the first other minute", () => {
    const where = fc.constantFrom(...walls);
    const times = fc.array(drawn, { minLength: 1, maxLength: 3 });
    const after = fc.nat({ max: 6 * day });
    fc.assert(
      fc.property(where, times, after, ({ zone, first, shows }, all, ms) => {
        const written = all.map(({ days: on, from, to }) => `${on.join(",")} ${hours(from)}-${hours(to)} ${zone}`);
        const window = parseWindow(written.join("; "));
        if (window === undefined) throw new Error(`${written} is not read`);
        const shown = shownWhile(all);
        const afterSkip = openAfterSkip(all, skips[walls.findIndex(({ shows: each }) => each === shows)] ?? []);
        const open = (i: number) => shown.has(shows[i] ?? "") || afterSkip.has(i);
        const now = first + ms;
        const index = Math.floor(ms / minute);
        expect(isOpen(window, now)).toBe(open(index));
        const opens = shows.findIndex((_, i) => i >= index && open(i));
        expect(opens).toBeGreaterThan(-1);
        expect(opensAt(window, now)).toBe(opens === index ? now : first + opens * minute);
        if (opens !== index) return;
        const closed = shows.findIndex((_, i) => i > index && !open(i));
        const closes = closed < 0 ? Number.POSITIVE_INFINITY : first + closed * minute;
        expect(closesAt(window, now)).toBe(Math.min(closes, now + day));
      }),
      { numRuns: inject("everything") ? 1000 : 300 },
    );
  });

  it("with a zone for each range is open when one range is open", () => {
    const window = parseWindow("Mon 00:00-01:00 Europe/Berlin; Mon 00:00-01:00 America/New_York");
    const at = (text: string) => Date.parse(text);
    if (window === undefined) throw new Error("not read");
    expect(opensAt(window, at("2026-07-05T12:00:00Z"))).toBe(at("2026-07-05T22:00:00Z"));
    expect(isOpen(window, at("2026-07-05T23:00:00Z"))).toBe(false);
    expect(opensAt(window, at("2026-07-05T23:00:00Z"))).toBe(at("2026-07-06T04:00:00Z"));
  });

  it("is shown on the clock of the range that opens, with its day, and not if that clock shows UTC", () => {
    const window = parseWindow("Tue 03:00-04:00 Europe/Berlin; Mon 22:30-23:00 America/New_York; Sat 01:00-02:00");
    if (window === undefined) throw new Error("not read");
    const shown = (from: string) => localTime(window, opensAt(window, Date.parse(from)));
    expect(shown("2026-11-23T16:00:00Z")).toBe("Tue 03:00 Europe/Berlin");
    expect(shown("2026-07-06T16:00:00Z")).toBe("Tue 03:00 Europe/Berlin");
    expect(shown("2026-11-24T03:10:00Z")).toBe("Mon 22:30 America/New_York");
    expect(shown("2026-11-25T00:00:00Z")).toBeUndefined();
    expect(localTime(window, Date.parse("2026-11-25T00:00:00Z"))).toBeUndefined();
  });

  it("opens after a skip for its length, and the text says so", () => {
    const window = parseWindow("Sun 02:30-02:45 Europe/Berlin");
    const at = (text: string) => Date.parse(text);
    if (window === undefined) throw new Error("not read");
    const opens = at("2026-03-29T01:00:00Z");
    expect(opensAt(window, at("2026-03-28T00:00:00Z"))).toBe(opens);
    expect(closesAt(window, opens)).toBe(at("2026-03-29T01:15:00Z"));
    // A clock may show parts of a millisecond.
    expect(closesAt(window, opens + 0.5)).toBe(at("2026-03-29T01:15:00Z"));
    expect(localTime(window, opens)).toBe("Sun 03:00 Europe/Berlin, because the clock skips 02:30");
    expect(localTime(window, at("2026-04-05T00:30:00Z"))).toBe("Sun 02:30 Europe/Berlin");
  });

  it("opens in the first minute after its hour if spring skips it, and twice if autumn repeats its hour", () => {
    const window = parseWindow("Sun 02:00-03:00 Europe/Berlin");
    const at = (text: string) => Date.parse(text);
    if (window === undefined) throw new Error("not read");
    expect(opensAt(window, at("2026-03-28T00:00:00Z"))).toBe(at("2026-03-29T01:00:00Z"));
    expect(opensAt(window, at("2026-10-24T12:00:00Z"))).toBe(at("2026-10-25T00:00:00Z"));
    expect(isOpen(window, at("2026-10-25T01:59:59.999Z"))).toBe(true);
    expect(isOpen(window, at("2026-10-25T02:00:00Z"))).toBe(false);
    expect(closesAt(window, at("2026-10-25T00:30:00Z"))).toBe(at("2026-10-25T02:00:00Z"));
  });
});
