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
