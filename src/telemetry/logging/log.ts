import type { Clock } from "../../lib/clock.ts";
import { cutFields, cutMessage, LogRateLimit } from "./log-rate-limit.ts";

/** What a message is about: short strings and numbers, names of objects rather than objects. Undefined ones are left out. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** One line a message. Neither messages nor fields may hold a value of a ConfigMap or Secret. */
export interface Logger {
  readonly debug: (message: string, fields?: LogFields) => void;
  readonly info: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
  readonly error: (message: string, fields?: LogFields) => void;
}

/** From the most talkative to the quietest. */
export const logLevels = ["debug", "info", "warn", "error"] as const;
/** The least severe messages that a logger writes. */
export type LogLevel = (typeof logLevels)[number];

/** `json` for machines: one object a line. `text` for people: time, level, message, key=value. */
export const logFormats = ["json", "text"] as const;
/** How a logger writes its lines. */
export type LogFormat = (typeof logFormats)[number];

/** What a logger is made from. */
export interface LoggerOptions {
  readonly format: LogFormat;
  readonly level: LogLevel;
  /** Gets each line, its line feed included. */
  readonly write: (line: string) => void;
  readonly clock: Pick<Clock, "wall">;
  /** Colours the level of a text line by ANSI escapes: for a terminal only. Default false. */
  readonly color?: boolean;
}

/**
 * A logger that writes each message as exactly one line, whatever it holds: line feeds and control characters are
 * escaped, so that neither a name nor a server's message can forge a line or steer a terminal. Times are RFC 3339 in UTC
 * with milliseconds. What is very long is cut, and of what is said again and again most is only counted: see
 * {@link LogRateLimit}; the level `debug` is for whoever wants all. In JSON a field named `time`, `level` or `msg` gets an underscore at its end.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { format, write, clock, color = false } = options;
  const least = logLevels.indexOf(options.level);
  const line = format === "json" ? jsonLine : textLine;
  const flood = new LogRateLimit<LogLevel>(clock);
  const writeLine = (level: LogLevel, message: string, fields: LogFields) =>
    write(line(new Date(clock.wall()).toISOString(), level, cutMessage(message), cutFields(fields), color));
  const writer =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      for (const { count, namespace, ...kind } of flood.over()) {
        writeLine(kind.level, `and ${count} more like it within a minute: ${kind.message}`, { namespace });
      }
      if (level === "debug" || flood.admits(level, message, fields)) writeLine(level, message, fields);
    };
  const from = (level: LogLevel) => (logLevels.indexOf(level) < least ? ignore : writer(level));
  return { debug: from("debug"), info: from("info"), warn: from("warn"), error: from("error") };
}

/** A logger that writes nothing. */
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

/** Quoted as in JSON where the value alone would not show where it ends. */
function quote(value: string | number | boolean): string {
  const text = String(value);
  return /^[^\s"=\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u.test(text) ? text : escapeControls(JSON.stringify(text));
}

/** Also the characters that show nothing and turn the direction of what follows (Cf). */
function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => (character === "\n" ? "\\n" : escaped(character)));
}

/** As JSON escapes it: each of its UTF-16 units. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
