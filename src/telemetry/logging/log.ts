import type { Clock } from "../../lib/clock.ts";
import { jsonEscape } from "../../lib/printable.ts";

/** Fields of a message: short strings and numbers, names of objects but not objects. Undefined fields are left out. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Writes one line for each message. Messages and fields must not contain a value of a ConfigMap or Secret. */
export interface Logger {
  readonly debug: (message: string, fields?: LogFields) => void;
  readonly info: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
  readonly error: (message: string, fields?: LogFields) => void;
}

/** From the most to the least verbose. */
export const logLevels = ["debug", "info", "warn", "error"] as const;
/** The minimum severity of messages that a logger writes. */
export type LogLevel = (typeof logLevels)[number];

/** `json` for machines: one object per line. `text` for people: time, level, message, key=value. */
export const logFormats = ["json", "text"] as const;
/** Format of the lines of a logger. */
export type LogFormat = (typeof logFormats)[number];

/** Options of {@link createLogger}. */
export interface LoggerOptions {
  readonly format: LogFormat;
  readonly level: LogLevel;
  /** Receives each line with its line feed. */
  readonly write: (line: string) => void;
  readonly clock: Pick<Clock, "wall">;
  /** Colors the level of a text line with ANSI escapes, for a terminal. Default false. */
  readonly color?: boolean;
}

/**
 * Creates a logger that writes each message as exactly one line. Line feeds and control characters are escaped, so that neither a
 * name nor a message of a server can forge a line or control a terminal. Times are RFC 3339 in UTC with milliseconds. Very long
 * texts are truncated, and repeated lines are limited: see {@link LogRateLimit}. Level `debug` has no limit. In JSON a field named
 * `time`, `level` or `msg` gets an underscore at its end.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { format, write, clock, color = false } = options;
  const least = logLevels.indexOf(options.level);
  const line = format === "json" ? jsonLine : textLine;
  const rateLimit = new LogRateLimit(clock);
  const writeLine = (level: LogLevel, message: string, fields: LogFields) =>
    write(line(new Date(clock.wall()).toISOString(), level, cut(message, maxLength.message), cutFields(fields), color));
  const writer =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      for (const { lines, namespace, ...kind } of rateLimit.suppressed()) {
        const count = lines - maxLines;
        writeLine(kind.level, `suppressed ${count} more lines within a minute: ${kind.message}`, { namespace });
      }
      if (level === "debug" || rateLimit.admits(level, message, fields)) writeLine(level, message, fields);
    };
  const from = (level: LogLevel) => (logLevels.indexOf(level) < least ? ignore : writer(level));
  return { debug: from("debug"), info: from("info"), warn: from("warn"), error: from("error") };
}

/** Discards all messages. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {}

function jsonLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const entries = Object.entries(fields).map(([key, value]) => [
    key === "time" || key === "level" || key === "msg" ? `${key}_` : key,
    typeof value === "number" && !Number.isFinite(value) ? String(value) : value,
  ]);
  return `${escapeControls(JSON.stringify({ time, level, msg: message, ...Object.fromEntries(entries) }))}\n`;
}

const levelColors = { debug: 90, info: 36, warn: 33, error: 31 } as const;

function textLine(time: string, level: LogLevel, message: string, fields: LogFields, color: boolean): string {
  const padded = level.toUpperCase().padEnd(5);
  const shown = color ? `\u001b[${levelColors[level]}m${padded}\u001b[0m` : padded;
  const pairs = Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : `${key}=${quote(value)}`));
  return `${[time, shown, escapeControls(message), ...pairs].join(" ")}\n`;
}

/** Quotes a value like JSON if its end would be unclear. */
function quote(value: string | number | boolean): string {
  const text = String(value);
  return /^[^\s"=\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u.test(text) ? text : escapeControls(JSON.stringify(text));
}

/** Escapes control characters and invisible characters that change the text direction (Cf). */
function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character === "\n" ? "\\n" : jsonEscape(character),
  );
}

const windowMs = 60_000;
/** Maximum number of lines per minute with the same message and namespace. */
const maxLines = 100;
/** Maximum number of different messages that are counted separately. All others share one count. */
const maxKinds = 1_000;

/** Maximum number of characters of a field, a message and a stack trace. */
const maxLength = { field: 500, message: 1_000, stack: 4_000 };

/** Lines with the same level, message and namespace within a minute. */
interface Kind {
  readonly level: LogLevel;
  readonly message: string;
  readonly namespace: string | undefined;
  readonly since: number;
  lines: number;
}

/**
 * Limits repeated log lines, which a user could cause with malformed objects or broken connections. Writes at most 100 lines per
 * minute with the same message and namespace, and then the number of suppressed lines.
 */
class LogRateLimit {
  readonly #clock: Pick<Clock, "wall">;
  /** In the order of their first lines. */
  readonly #kinds = new Map<string, Kind>();

  constructor(clock: Pick<Clock, "wall">) {
    this.#clock = clock;
  }

  /** Reports whether to write a line. Counts the line in any case. */
  admits(level: LogLevel, message: string, { namespace }: LogFields): boolean {
    const known = `${level} ${namespace ?? ""} ${message}`;
    const key = this.#kinds.has(known) || this.#kinds.size < maxKinds ? known : "";
    const kind = this.#kinds.get(key) ?? this.#begin(key, level, message, namespace);
    kind.lines++;
    return kind.lines <= maxLines;
  }

  /** Removes the kinds whose minute is over, and returns those of which lines were suppressed. */
  *suppressed(): Iterable<Kind> {
    const now = this.#clock.wall();
    for (const [key, kind] of this.#kinds) {
      // A clock that was set back also ends the minute.
      if (now - kind.since < windowMs && now >= kind.since) return;
      this.#kinds.delete(key);
      if (kind.lines > maxLines) yield kind;
    }
  }

  #begin(key: string, level: LogLevel, message: string, namespace: LogFields[string]): Kind {
    const where = key === "" || namespace === undefined ? undefined : String(namespace);
    const kind = { level, message: key === "" ? "messages of many kinds" : message, namespace: where };
    const begun: Kind = { ...kind, since: this.#clock.wall(), lines: 0 };
    this.#kinds.set(key, begun);
    return begun;
  }
}

function cutFields(fields: LogFields): LogFields {
  const entries = Object.entries(fields).map(([key, value]) => {
    if (typeof value !== "string") return [key, value];
    return [key, cut(value, key === "stack" ? maxLength.stack : maxLength.field)];
  });
  return Object.fromEntries(entries);
}

/** Truncates a very long text and adds the number of removed characters. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}… and ${text.length - most} characters more`;
}
