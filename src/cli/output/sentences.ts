// Texts of the terminal and of the page, so without any module of Node.

/** The styles of texts in a terminal. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/**
 * Joins texts to sentences on one line: each starts with a capital letter and ends with a full stop. Empty texts are left out. A name such
 * as `deployment/web` keeps its small letter.
 */
export function sentences(...texts: readonly string[]): string {
  return texts
    .filter((text) => text !== "")
    .map(asSentence)
    .join(" ");
}

function asSentence(text: string): string {
  const start = /^[a-z]+[ ,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?…]$/.test(start) ? start : `${start}.`;
}

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];

/** Returns an age in milliseconds as `kubectl get` writes it: `95s`, `5m30s`, `30h`, `3d4h`, `400d`. */
export function age(ms: number): string {
  if (ms < 2 * minute) return `${Math.max(0, Math.floor(ms / second))}s`;
  if (ms < 10 * minute) return inTwo(ms, minute, "m", second, "s");
  if (ms < 3 * hour) return `${Math.floor(ms / minute)}m`;
  if (ms < 8 * hour) return inTwo(ms, hour, "h", minute, "m");
  if (ms < 2 * day) return `${Math.floor(ms / hour)}h`;
  if (ms < 8 * day) return inTwo(ms, day, "d", hour, "h");
  return `${Math.floor(ms / day)}d`;
}

/** Returns the time from `now`, in milliseconds since the epoch, to a time in RFC 3339, in the same form; `0s` if the time has passed. */
export function remaining(until: string, now: number): string {
  return age(Date.parse(until) - now);
}

function inTwo(ms: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)}${largeUnit}${rest === 0 ? "" : `${rest}${smallUnit}`}`;
}
