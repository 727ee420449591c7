import { remembering } from "./bounded-memo.ts";

/** How far the clocks of a time zone are ahead of UTC at a time, both in milliseconds (since the epoch). */
export type OffsetAt = (now: number) => number;

/** Formatters take 70 KiB and 0.1 ms each, and whoever may annotate a workload may name every zone there is. */
const mostFormatters = 32;

const longestName = 64;

/**
 * The clocks of a time zone of the IANA database, as it is built into Node: https://www.iana.org/time-zones. Undefined where there
 * is no zone of that name.
 */
export function clocksOf(zone: string): OffsetAt | undefined {
  // Intl takes "+02:00" too, which nobody who writes it takes for summer and winter.
  if (zone.length > longestName || !/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone)) return undefined;
  const known = formatters(zone);
  return known && ((now) => offsetIn(known.format(now)));
}

const formatters = remembering(mostFormatters, (zone) => {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  } catch {
    return undefined; // a RangeError: there is no such zone
  }
});

/** Of `11/22/2026, GMT+01:00`; zones had seconds before 1972. */
function offsetIn(text: string): number {
  const [, sign, hours, minutes, seconds = 0] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
  const ms = 1000 * (Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds));
  return sign === "-" ? -ms : ms;
}
