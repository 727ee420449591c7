import type { Clock } from "../../lib/clock.ts";

const windowMs = 60_000;
/** Maximum number of lines per minute with the same message and namespace. */
const maxLines = 100;
/** Maximum number of different messages that are counted separately. All others share one count. */
const maxKinds = 1_000;

/** Maximum number of characters of a field, a message and a stack trace. */
const maxLength = { field: 500, message: 1_000, stack: 4_000 };

type Fields = Readonly<Record<string, string | number | boolean | undefined>>;

/** The number of suppressed lines of one message. */
interface SuppressedLines<Level extends string> {
  readonly level: Level;
  readonly message: string;
  readonly namespace: string | undefined;
  readonly count: number;
}

interface Kind<Level extends string> {
  readonly level: Level;
  readonly message: string;
  readonly namespace: string | undefined;
  readonly since: number;
  lines: number;
}

/**
 * Limits repeated log lines, which a user could cause with malformed objects or broken connections. Writes at most 100 lines per
 * minute with the same message and namespace, and then the number of suppressed lines.
 */
export class LogRateLimit<Level extends string> {
  readonly #clock: Pick<Clock, "wall">;
  /** In the order of their first lines. */
  readonly #kinds = new Map<string, Kind<Level>>();

  constructor(clock: Pick<Clock, "wall">) {
    this.#clock = clock;
  }

  /** Reports whether to write a line. Counts the line in any case. */
  admits(level: Level, message: string, { namespace }: Fields): boolean {
    const known = `${level} ${namespace ?? ""} ${message}`;
    const key = this.#kinds.has(known) || this.#kinds.size < maxKinds ? known : "";
    const kind = this.#kinds.get(key) ?? this.#begin(key, level, message, namespace);
    kind.lines++;
    return kind.lines <= maxLines;
  }

  /** Yields the suppressed lines of the minutes that are over, once each. */
  *suppressed(): Iterable<SuppressedLines<Level>> {
    const now = this.#clock.wall();
    for (const [key, { since, lines, ...kind }] of this.#kinds) {
      // A clock that was set back also ends the minute.
      if (now - since < windowMs && now >= since) return;
      this.#kinds.delete(key);
      if (lines > maxLines) yield { ...kind, count: lines - maxLines };
    }
  }

  #begin(key: string, level: Level, message: string, namespace: Fields[string]): Kind<Level> {
    const where = key === "" || namespace === undefined ? undefined : String(namespace);
    const kind = { level, message: key === "" ? "messages of many kinds" : message, namespace: where };
    const begun: Kind<Level> = { ...kind, since: this.#clock.wall(), lines: 0 };
    this.#kinds.set(key, begun);
    return begun;
  }
}

/** Truncates a very long message and adds the number of removed characters. */
export function cutMessage(message: string): string {
  return cut(message, maxLength.message);
}

/** Truncates very long fields and adds the number of removed characters. */
export function cutFields(fields: Fields): Fields {
  const entries = Object.entries(fields).map(([key, value]) => {
    if (typeof value !== "string") return [key, value];
    return [key, cut(value, key === "stack" ? maxLength.stack : maxLength.field)];
  });
  return Object.fromEntries(entries);
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}… and ${text.length - most} characters more`;
}
