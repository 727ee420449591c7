import { quoted } from "../../domain/syntax/wording.ts";
import type { Flag } from "./flag-types.ts";
import { nearest } from "./nearest.ts";
import { UsageError } from "./usage-error.ts";

/** A command's flags by their names, without dashes. */
export type FlagTable = Readonly<Record<string, Flag<unknown>>>;

/** The value of each flag of a table. */
export type FlagValues<T extends FlagTable> = { readonly [K in keyof T]: T[K] extends Flag<infer V> ? V : never };

/** Environment variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A value that was given: where (`--update-rate` or `WAVE_UPDATE_RATE`) and as what text. */
export interface Given {
  readonly source: string;
  readonly text: string;
}

/** What a command was called with. */
export type ParsedFlags<T extends FlagTable> =
  | { readonly asks: "help" }
  | { readonly asks: "version" }
  | {
      readonly asks: "run";
      readonly values: FlagValues<T>;
      /** The flags that were given by argument or variable; the others have their defaults. */
      readonly given: ReadonlyMap<string, Given>;
      /** What is no flag, in order. */
      readonly positionals: readonly string[];
    };

/** The environment variable that stands for a flag: `update-rate` → `WAVE_UPDATE_RATE`. */
export function variableOf(name: string): string {
  return `WAVE_${name.toUpperCase().replaceAll("-", "_")}`;
}

/**
 * Reads flags as Go's flag package does: `--flag`, `-flag`, `--flag=value`, `--flag value`; a flag that is on or off
 * takes its value only after `=`; the last one wins, but of those that repeat; `--` ends the flags. Unlike there, flags may follow
 * positionals, and letters are read as kubectl reads them: `-ojson`, `-n=shop`, `-Aojson`.
 * What is not given comes from the environment variable of its name where that is set and not empty, then from the
 * table. Throws a UsageError of one line for everything that the table does not allow, and nothing else.
 */
export function parseFlags<T extends FlagTable>(table: T, args: readonly string[], env: Environment): ParsedFlags<T> {
  const positionals: string[] = [];
  const given = new Map<string, Given>();
  const give = (name: string, text: string) => {
    const before = table[name]?.repeats === true ? given.get(name)?.text : undefined;
    given.set(name, { source: `--${name}`, text: before === undefined ? text : `${before},${text}` });
  };
  const rest = args.values();
  for (let next = rest.next(); !next.done; next = rest.next()) {
    const arg = next.value;
    if (arg === "--") {
      positionals.push(...rest);
      break;
    }
    const match = /^(--?)([^-=][^=]*)(?:=(.*))?$/s.exec(arg);
    if (match === null) {
      if (arg.startsWith("-") && arg !== "-") throw new UsageError(`bad flag ${quoted(arg)}`);
      positionals.push(arg);
      continue;
    }
    const [, dashes, typed = "", inline] = match;
    if (typed === "help" || typed === "h") return { asks: "help" };
    if (typed === "version") return { asks: "version" };
    if (Object.hasOwn(table, typed)) give(typed, inline ?? followingValue(table, typed, rest));
    else {
      const letters = dashes === "-" ? inLetters(table, arg.slice(1), rest) : undefined;
      if (letters === undefined) throw unknownFlag(table, typed);
      for (const [name, text] of letters) give(name, text);
    }
  }
  for (const name of Object.keys(table)) {
    const text = env[variableOf(name)];
    if (!given.has(name) && text !== undefined && text !== "") given.set(name, { source: variableOf(name), text });
  }
  return { asks: "run", values: valuesOf(table, given), given, positionals };
}

/**
 * What letters after one dash give, as pflag reads them: `-A`, `-n shop`, `-nshop`, `-n=shop`, `-Aojson`. Undefined where one
 * of them is none, or where a name is nearer that has the same first letter: `-namespce`.
 */
function inLetters(
  table: FlagTable,
  typed: string,
  rest: Iterator<string>,
): readonly (readonly [name: string, text: string])[] | undefined {
  const [first = ""] = typed;
  const alike = Object.keys(table).filter((name) => name.startsWith(first));
  if (typed.length > 2 && nearest(typed.replace(/=.*$/s, ""), alike) !== undefined) return undefined;
  const found: (readonly [string, string])[] = [];
  for (let letters = typed; letters !== ""; ) {
    const name = Object.keys(table).find((each) => table[each]?.short === letters[0]);
    if (name === undefined) return undefined;
    const after = letters.slice(1);
    const takesAll = after.startsWith("=") || table[name]?.placeholder !== undefined;
    if (!takesAll) found.push([name, "true"]);
    else found.push([name, after === "" ? followingValue(table, name, rest) : after.replace(/^=/, "")]);
    letters = takesAll ? "" : after;
  }
  return found;
}

function flagNamed(table: FlagTable, typed: string): string | undefined {
  if (Object.hasOwn(table, typed)) return typed;
  return Object.keys(table).find((name) => table[name]?.short === typed);
}

function unknownFlag(table: FlagTable, typed: string): UsageError {
  const meant = nearest(typed, [...Object.keys(table), "help", "version"]);
  return new UsageError(
    `unknown flag ${quoted(`--${typed}`)}; ${meant === undefined ? "--help lists those there are" : `did you mean --${meant}?`}`,
  );
}

function followingValue(table: FlagTable, name: string, rest: Iterator<string>): string {
  if (table[name]?.placeholder === undefined) return "true";
  const next = rest.next();
  const looksLikeFlag = /^--?([^-=][^=]*)/.exec(next.value ?? "")?.[1];
  if (next.done || (looksLikeFlag !== undefined && flagNamed(table, looksLikeFlag) !== undefined))
    throw new UsageError(`--${name} needs a value: ${table[name]?.allowed}`);
  return next.value;
}

function valuesOf<T extends FlagTable>(table: T, given: ReadonlyMap<string, Given>): FlagValues<T>;
function valuesOf(table: FlagTable, given: ReadonlyMap<string, Given>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(table)) {
    const { source, text } = given.get(name) ?? {};
    const value = text === undefined ? flag.default : flag.parse(text);
    if (text !== undefined && value === undefined)
      throw new UsageError(`${source}: ${quoted(text)} is not ${flag.allowed}`);
    values[name] = value;
  }
  return values;
}
