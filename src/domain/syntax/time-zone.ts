import { boundedMemo } from "./bounded-memo.ts";

/** A function that returns the offset of a time zone from UTC at a time. Both are in milliseconds; the time is since the epoch. */
export type OffsetAt = (now: number) => number;

/** Limit of cached formatters: each takes 70 KiB and 0.1 ms, and annotations of workloads can name every existing zone. */
const maxFormatters = 32;

/** Limit of cached offsets: of all zones, and of the times at which holds look at a clock. */
const maxOffsets = 1_024;

const maxNameLength = 64;
const quarterMs = 15 * 60_000;

/** The names of UTC in windows. */
export const utcNames: ReadonlySet<string> = new Set(["UTC", "Etc/UTC"]);

/**
 * Returns the offsets of a time zone of the IANA database that is built into Node: https://www.iana.org/time-zones. Undefined if the
 * database has no zone with that name.
 *
 * Most zones need no `Intl`, which adds 7 MiB to the process when code first uses it.
 */
export function zoneOffset(zone: string): OffsetAt | undefined {
  if (utcNames.has(zone)) return () => 0;
  // Intl also accepts "+02:00". Reject it: a fixed offset would ignore summer time, which its author does not expect.
  if (zone.length > maxNameLength || !/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone)) return undefined;
  if (isLocalZone(zone)) return (now) => offsets(`${Math.floor(now / quarterMs)} ${zone}`);
  const known = formatters(zone);
  return known && ((now) => offsetIn(known.format(now)));
}

/** Zones change their clocks only at a quarter of an hour. */
const offsets = boundedMemo(maxOffsets, (text) => {
  const [quarter, zone = ""] = text.split(" ");
  return localOffset(zone, Number(quarter) * quarterMs);
});

const samples = [Date.UTC(2026, 0), Date.UTC(2026, 6), Date.UTC(1995, 0)];

/**
 * Reports whether `localOffset` knows a zone: it returns 0 for a name that it does not know. Outside of these regions, it also
 * accepts names that the database does not have, such as GMT+3.
 */
const isLocalZone = boundedMemo(
  maxOffsets,
  (zone) =>
    /^(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific)\//.test(zone) &&
    samples.some((at) => localOffset(zone, at) !== 0),
);

/** Returns the offset of a zone from UTC as if the process ran in this zone. Takes 30 µs. Restores the zone of the process. */
function localOffset(zone: string, at: number): number {
  const { TZ: before } = process.env;
  try {
    process.env.TZ = zone;
    return (0 - new Date(at).getTimezoneOffset()) * 60_000;
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}

const formatters = boundedMemo(maxFormatters, (zone) => {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  } catch {
    return undefined; // a RangeError: the zone does not exist
  }
});

/** Returns the offset in a text such as `11/22/2026, GMT+01:00`, in milliseconds. Before 1972 some offsets had seconds. */
function offsetIn(text: string): number {
  const [, sign, hours, minutes, seconds = 0] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
  const ms = 1000 * (Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds));
  return sign === "-" ? -ms : ms;
}
