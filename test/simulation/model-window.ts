/** Reports whether a window, as written, is open at a time in milliseconds since the epoch; undefined if the window is invalid. */
export function isWindowOpen(text: string, at: number): boolean | undefined {
  const parts = text.split(";").filter((part) => part.trim() !== "");
  const read = parts.map((part) => readPart(part.trim()));
  if (read.length === 0 || read.some((part) => part === undefined)) return undefined;
  return read.some((part) => part !== undefined && isPartOpen(part, at));
}

interface Part {
  readonly days: readonly number[];
  /** Minutes of the day. */
  readonly from: number;
  readonly to: number;
  readonly zone: string;
}

const week = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

function readPart(text: string): Part | undefined {
  const match = /^(\S+) (\d\d):(\d\d)-(\d\d):(\d\d)(?: (\S+))?$/.exec(text);
  if (match === null) return undefined;
  const [, names = "", h1, m1, h2, m2, zone = "UTC"] = match;
  const days = names.split(",").flatMap((name) => {
    const [first = "", last = first] = name.split("-");
    const [a, b] = [week.indexOf(first), week.indexOf(last)];
    if (a === -1 || b === -1) return [Number.NaN];
    return Array.from({ length: ((b - a + 7) % 7) + 1 }, (_, i) => (a + i) % 7);
  });
  if (days.some(Number.isNaN)) return undefined;
  return { days, from: 60 * Number(h1) + Number(m1), to: 60 * Number(h2) + Number(m2), zone };
}

/** Uses the local time of its zone. After midnight the window of the previous day applies. */
function isPartOpen({ days, from, to, zone }: Part, at: number): boolean {
  const shown = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).formatToParts(at);
  const get = (type: string) => shown.find((part) => part.type === type)?.value ?? "";
  const minute = 60 * Number(get("hour")) + Number(get("minute"));
  const today = week.indexOf(get("weekday"));
  if (from < to) return days.includes(today) && minute >= from && minute < to;
  if (minute >= from) return days.includes(today);
  return minute < to && days.includes((today + 6) % 7);
}
