import type { Clock } from "../../lib/clock.ts";

const windowMs = 60_000;
/** Lines of one message about one namespace in a minute. */
const mostLines = 100;
/** Different messages that are counted apart; what goes beyond shares one count. */
const mostKinds = 1_000;

/** Characters of a field or a message that are written; a stack trace is the run-time's own. */
const longest = { field: 500, message: 1_000, stack: 4_000 };

type Fields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Lines that were left out. */
export interface SuppressedLines<Level extends string> {
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
 * Keeps those who can make Wave say the same again and again (by malformed objects, say, or by broken connections) from
 * filling the log: of one message about one namespace 100 lines a minute are written, and then how many more there were.
 */
export class LogRateLimit<Level extends string> {
  readonly #clock: Pick<Clock, "wall">;
  /** In the order in which their minutes began. */
  readonly #kinds = new Map<string, Kind<Level>>();

  constructor(clock: Pick<Clock, "wall">) {
    this.#clock = clock;
  }

  /** Whether a line is to be written. It is counted either way. */
  admits(level: Level, message: string, { namespace }: Fields): boolean {
    const known = `${level} ${namespace ?? ""} ${message}`;
    const key = this.#kinds.has(known) || this.#kinds.size < mostKinds ? known : "";
    const kind = this.#kinds.get(key) ?? this.#begin(key, level, message, namespace);
    kind.lines++;
    return kind.lines <= mostLines;
  }

  /** What was left out in the minutes that are over. Each is told once. */
  *over(): Iterable<SuppressedLines<Level>> {
    const now = this.#clock.wall();
    for (const [key, { since, lines, ...kind }] of this.#kinds) {
      // A clock that was set back ends the minute, too.
      if (now - since < windowMs && now >= since) return;
      this.#kinds.delete(key);
      if (lines > mostLines) yield { ...kind, count: lines - mostLines };
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

/** A message without its end where it is very long, and how much that is. */
export function cutMessage(message: string): string {
  return cut(message, longest.message);
}

/** Fields without the ends of those that are very long, and how much that is. */
export function cutFields(fields: Fields): Fields {
  const entries = Object.entries(fields).map(([key, value]) => {
    if (typeof value !== "string") return [key, value];
    return [key, cut(value, key === "stack" ? longest.stack : longest.field)];
  });
  return Object.fromEntries(entries);
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}… and ${text.length - most} characters more`;
}
