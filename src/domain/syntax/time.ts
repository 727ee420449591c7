/** Returns an RFC 3339 time in milliseconds since the epoch; undefined for other text. */
export function parseTime(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
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
