import { boundedMemo } from "./json.ts";

/** Returns an RFC 3339 time in milliseconds since the epoch; undefined for other text. */
export function parseTime(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Returns a time, in milliseconds since the epoch, in whole seconds as in the API. */
export function formatTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** A time with the name of the person who wrote it; "" if the name is unknown. */
interface SignedTime {
  readonly at: number;
  readonly by: string;
}

/** Returns a time and the name behind it, as in `2026-01-31T12:00:00Z alice`; undefined if the time is invalid. */
export function parseSignedTime(text: string): SignedTime | undefined {
  const [time = "", ...name] = text.split(" ");
  const at = parseTime(time);
  return at === undefined ? undefined : { at, by: name.join(" ").trim() };
}

const milliseconds: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

/**
 * Parses a duration in the syntax of Go (https://pkg.go.dev/time#ParseDuration): `300ms`, `1h30m`, `1.5s`, `0`. A number
 * other than 0 needs a unit. Returns milliseconds, or undefined if the text is not a duration. Negative durations are
 * invalid.
 */
export function parseDuration(text: string): number | undefined {
  if (text === "0" || text === "+0") return 0;
  const unsigned = text.startsWith("+") ? text.slice(1) : text;
  const parts = [...unsigned.matchAll(part)];
  if (parts.length === 0 || parts.reduce((length, [all]) => length + all.length, 0) !== unsigned.length)
    return undefined;
  const total = parts.reduce((sum, [, number = "", unit = ""]) => sum + Number(number) * (milliseconds[unit] ?? 0), 0);
  return Number.isFinite(total) ? total : undefined;
}

/** Formats milliseconds in the short form that `parseDuration` reads: `1h30m`, `1.5s`, `0`. */
export function formatDuration(ms: number): string {
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const rest = Number((ms % 60_000).toFixed(6));
  const seconds = rest >= 1000 ? `${trimmed(rest / 1000, 9)}s` : rest > 0 ? `${trimmed(rest, 6)}ms` : "";
  return `${hours > 0 ? `${hours}h` : ""}${minutes > 0 ? `${minutes}m` : ""}${seconds}` || "0";
}

function trimmed(number: number, digits: number): string {
  return number.toFixed(digits).replace(/\.?0+$/, "");
}

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
