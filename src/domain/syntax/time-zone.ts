import { boundedMemo } from "./bounded-memo.ts";

/** A function that returns the offset of a time zone from UTC at a time. Both are in milliseconds; the time is since the epoch. */
export type OffsetAt = (now: number) => number;

/** Limit of cached formatters: each takes 70 KiB and 0.1 ms, and annotations of workloads can name every existing zone. */
const maxFormatters = 32;

const maxNameLength = 64;

/**
 * Returns the offsets of a time zone of the IANA database that is built into Node: https://www.iana.org/time-zones. Undefined if the
 * database has no zone with that name.
 */
export function zoneOffset(zone: string): OffsetAt | undefined {
  // Intl also accepts "+02:00". Reject it: a fixed offset would ignore summer time, which its author does not expect.
  if (zone.length > maxNameLength || !/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone)) return undefined;
  const known = formatters(zone);
  return known && ((now) => offsetIn(known.format(now)));
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
