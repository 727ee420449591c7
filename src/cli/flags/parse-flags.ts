import { closestName, quoted } from "../../domain/syntax/names.ts";
import { type Flag, UsageError } from "./flag-types.ts";

/** A command's flags by their names, without dashes. */
export type FlagTable = Readonly<Record<string, Flag<unknown>>>;

/** The values of all flags of a table, by name without dashes. A flag that was not given has its default. */
export type FlagValues<T extends FlagTable> = { readonly [K in keyof T]: T[K] extends Flag<infer V> ? V : never };

/** Environment variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A flag that was given, by its source (`--update-rate`, `-n` or `WAVE_UPDATE_RATE`) and its text. */
export interface GivenFlag {
  readonly source: string;
  readonly text: string;
}

/** Which part of the help is wanted: `--help` shows the usual case, `--help-all` everything. */
export type HelpScope = "usual" | "all";

/** The flags and other arguments of a command. */
export interface Arguments<T extends FlagTable> {
  readonly values: FlagValues<T>;
  /** The flags that were given, by argument or variable. All others have their defaults. */
  readonly given: ReadonlyMap<string, GivenFlag>;
  /** The arguments that are not flags, in order. */
  readonly positionals: readonly string[];
}

/** The result of parsing the arguments of a command. */
type ParsedFlags<T extends FlagTable> =
  | { readonly action: "help"; readonly scope: HelpScope }
  | { readonly action: "version" }
  | ({ readonly action: "run" } & Arguments<T>);

/** Returns the environment variable of a flag: `update-rate` → `WAVE_UPDATE_RATE`. */
export function variableOf(name: string): string {
  return `WAVE_${name.toUpperCase().replaceAll("-", "_")}`;
}

/**
 * Parses flags as Go's flag package does: `--flag`, `-flag`, `--flag=value`, `--flag value`. A boolean flag takes its value only
 * after `=`, except for those that are texts in Reloader. The last value wins, except for flags that repeat. `--` ends the flags. Unlike Go, flags may follow positionals, and
 * letters are read as kubectl reads them: `-ojson`, `-n=shop`, `-Aojson`.
 * A flag that is not given comes from its environment variable if that is set and not empty, otherwise from the table.
 * @throws UsageError with one line for everything that the table does not allow, and nothing else.
 */
export function parseFlags<T extends FlagTable>(table: T, args: readonly string[], env: Environment): ParsedFlags<T> {
  const positionals: string[] = [];
  const given = new Map<string, GivenFlag>();
  const give = (name: string, text: string, source: string) => {
    const separator = table[name]?.repeats;
    const before = separator === undefined ? undefined : given.get(name)?.text;
    given.set(name, { source, text: before === undefined ? text : `${before}${separator}${text}` });
  };
  const rest = [...args].reverse();
  for (let arg = rest.pop(); arg !== undefined; arg = rest.pop()) {
    if (arg === "--") {
      positionals.push(...rest.reverse());
      break;
    }
    const match = /^(--?)([^-=][^=]*)(?:=(.*))?$/s.exec(arg);
    if (match === null) {
      if (arg.startsWith("-") && arg !== "-") throw new UsageError(flagErrorTexts.invalidFlag(arg));
      positionals.push(arg);
      continue;
    }
    const [, dashes = "", typed = "", inline] = match;
    if (typed === "help" || typed === "h") return { action: "help", scope: "usual" };
    if (typed === "help-all") return { action: "help", scope: "all" };
    if (typed === "version") return { action: "version" };
    const source = `--${typed}`;
    if (Object.hasOwn(table, typed)) give(typed, inline ?? followingValue(table, typed, source, rest), source);
    else {
      const letters = dashes === "-" ? lettersToFlags(table, arg.slice(1), rest) : undefined;
      if (letters === undefined) throw unknownFlag(table, dashes, typed);
      for (const [name, text, letter] of letters) give(name, text, letter);
    }
  }
  for (const name of Object.keys(table)) {
    const text = env[variableOf(name)];
    if (!given.has(name) && text !== undefined && text !== "") given.set(name, { source: variableOf(name), text });
  }
  return { action: "run", values: valuesOf(table, given), given, positionals };
}

/** Parses flags like {@link parseFlags}, where help makes no sense. Throws a UsageError also for `--help` and `--version`. */
export function parseArguments<T extends FlagTable>(table: T, args: readonly string[], env: Environment): Arguments<T> {
  const parsed = parseFlags(table, args, env);
  if (parsed.action !== "run") throw new UsageError(flagErrorTexts.helpRequested(parsed.action));
  return parsed;
}

/**
 * Returns the flags that letters after one dash give, as pflag reads them: `-A`, `-n shop`, `-nshop`, `-n=shop`, `-Aojson`.
 * Undefined if a letter is no flag, or if a name with the same first letter is close: `-namespce`.
 */
function lettersToFlags(
  table: FlagTable,
  typed: string,
  rest: string[],
): readonly (readonly [name: string, text: string, source: string])[] | undefined {
  const [first = ""] = typed;
  const sameStart = Object.keys(table).filter((name) => name.startsWith(first));
  if (typed.length > 2 && closestName(typed.replace(/=.*$/s, ""), sameStart) !== undefined) return undefined;
  const found: (readonly [string, string, string])[] = [];
  for (let letters = typed; letters !== ""; ) {
    const name = Object.keys(table).find((each) => table[each]?.short === letters[0]);
    if (name === undefined) return undefined;
    const source = `-${letters[0]}`;
    const after = letters.slice(1);
    const takesAll = after.startsWith("=") || table[name]?.placeholder !== undefined;
    if (!takesAll) found.push([name, "true", source]);
    else found.push([name, after === "" ? followingValue(table, name, source, rest) : after.replace(/^=/, ""), source]);
    letters = takesAll ? "" : after;
  }
  return found;
}

function flagNamed(table: FlagTable, typed: string): string | undefined {
  if (Object.hasOwn(table, typed)) return typed;
  return Object.keys(table).find((name) => table[name]?.short === typed);
}

function unknownFlag(table: FlagTable, dashes: string, typed: string): UsageError {
  const closest = closestName(typed, [...Object.keys(table), "help", "help-all", "version"]);
  const word = dashes + typed;
  return new UsageError(
    closest === undefined ? flagErrorTexts.unknownFlag(word) : flagErrorTexts.misspeltFlag(word, `--${closest}`),
  );
}

/** Takes the value of a flag from the arguments after it, which are in reverse order. */
function followingValue(table: FlagTable, name: string, source: string, rest: string[]): string {
  const flag = table[name];
  const isWord = flag?.mayTakeWord === true && ["true", "false"].includes(rest.at(-1) ?? "");
  if (flag?.placeholder === undefined && !isWord) return "true";
  const next = rest.pop();
  const looksLikeFlag = /^--?([^-=][^=]*)/.exec(next ?? "")?.[1];
  if (next === undefined || (looksLikeFlag !== undefined && flagNamed(table, looksLikeFlag) !== undefined))
    throw new UsageError(flagErrorTexts.noValue(source, table[name]?.allowed ?? ""));
  return next;
}

function valuesOf<T extends FlagTable>(table: T, given: ReadonlyMap<string, GivenFlag>): FlagValues<T>;
function valuesOf(table: FlagTable, given: ReadonlyMap<string, GivenFlag>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(table)) {
    const { source, text } = given.get(name) ?? {};
    const isDefault = text === undefined || (text === "" && flag.emptyIsDefault === true);
    const value = isDefault ? flag.default : flag.parse(text);
    if (!isDefault && value === undefined)
      throw new UsageError(flagErrorTexts.invalidValue(source ?? "", text, flag.allowed));
    values[name] = value;
  }
  return values;
}

/** The errors about flags of all commands, one line each. */
export const flagErrorTexts = {
  invalidFlag: (word: string) => `invalid flag ${quoted(word)}`,
  unknownFlag: (word: string) => `unknown flag ${quoted(word)}; --help-all lists all flags`,
  misspeltFlag: (word: string, meant: string) => `unknown flag ${quoted(word)}; did you mean ${meant}?`,
  noValue: (source: string, allowed: string) => `${source} has no value; use ${allowed}`,
  invalidValue: (source: string, value: string, allowed: string) =>
    `invalid ${source}: ${quoted(value)}; use ${allowed}`,
  helpRequested: (action: string) => `the arguments request ${action}`,
} as const;
