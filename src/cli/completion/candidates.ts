import type { ArgumentKind, Command, Terminal } from "../command/command.ts";
import { acceptsWorkloads, findArgumentKind } from "../command/workload-argument.ts";
import type { Flag } from "../flags/flag-types.ts";
import type { FlagTable } from "../flags/parse-flags.ts";
import { type CommandLine, namesOf, otherKinds } from "./cluster-names.ts";

/** What a shell offers for a word. */
interface Candidates {
  readonly offered: readonly Candidate[];
  /** Whether the shell offers files instead. */
  readonly files?: boolean;
  /** Whether the word continues without a space: a name follows `deployment/`. */
  readonly continues?: boolean;
}

/** A word to offer, with its meaning. */
interface Candidate {
  readonly word: string;
  readonly means?: string | undefined;
}

/** The commands that candidates come from. */
export interface Completable {
  readonly summaries: ReadonlyMap<string, string>;
  readonly load: (name: string) => Promise<Command>;
  /** The words of commands that take neither flags nor objects. */
  readonly words: Readonly<Record<string, readonly string[]>>;
  readonly terminal: Terminal;
}

const nothing: Candidates = { offered: [] };

/** Returns the candidates for the last of `words`, which are the words after the name of the program. */
export async function candidatesFor(words: readonly string[], wave: Completable): Promise<Candidates> {
  const [name = "", ...args] = words;
  const current = args.at(-1);
  if (current === undefined) {
    const commands = [...wave.summaries].map(([word, means]) => ({ word, means }));
    return { offered: commands.filter(startsWith(name)) };
  }
  const fixed = Object.hasOwn(wave.words, name) ? wave.words[name] : undefined;
  if (fixed !== undefined) return { offered: args.length === 1 ? wordsOf(fixed).filter(startsWith(current)) : [] };
  if (!wave.summaries.has(name)) return nothing;
  const { accepts } = await wave.load(name);
  if (accepts === undefined) return nothing;
  const before = args.slice(0, -1);
  const afterFlags = before.includes("--");
  const line = { flags: accepts.flags, words: before };
  const flag = afterFlags ? undefined : flagOf(accepts.flags, before.at(-1) ?? "");
  if (flag?.placeholder !== undefined)
    return valuesOf(flag, current, { ...line, words: before.slice(0, -1) }, wave.terminal);
  if (!afterFlags && current.startsWith("-")) return flagsFor(current, line, wave.terminal);
  return objectsFor(accepts.kinds ?? [], current, line, wave.terminal);
}

function wordsOf(words: readonly string[]): readonly Candidate[] {
  return words.map((word) => ({ word }));
}

function startsWith(typed: string): (candidate: Candidate) => boolean {
  return ({ word }) => word.startsWith(typed);
}

/** Returns the flag that a word names, if the word has no value. */
function flagOf(flags: FlagTable, word: string): Flag<unknown> | undefined {
  const name = /^--?([^=]+)$/.exec(word)?.[1];
  if (name === undefined) return undefined;
  return Object.hasOwn(flags, name) ? flags[name] : Object.values(flags).find(({ short }) => short === name);
}

async function flagsFor(current: string, line: CommandLine, terminal: Terminal): Promise<Candidates> {
  const { flags } = line;
  const [, name, value] = /^(--?[^=]+)=(.*)$/s.exec(current) ?? [];
  if (name === undefined) {
    const all = Object.entries(flags).flatMap(([flag, { help, hasNoEffect }]) =>
      hasNoEffect ? [] : [{ word: `--${flag}`, means: help }],
    );
    return {
      offered: [...all, { word: "--help", means: "Show the help of this command." }].filter(startsWith(current)),
    };
  }
  const flag = flagOf(flags, name);
  if (flag === undefined) return nothing;
  const { offered, ...rest } = await valuesOf(flag, value ?? "", line, terminal);
  return { ...rest, offered: offered.map(({ word, means }) => ({ word: `${name}=${word}`, means })) };
}

/** Returns the values of a flag. In a list with commas, completes the last item. */
async function valuesOf(
  { completes, isList, placeholder = "" }: Flag<unknown>,
  typed: string,
  line: CommandLine,
  terminal: Terminal,
): Promise<Candidates> {
  if (completes === undefined) return { offered: [], files: placeholder === "FILE" || placeholder === "DIR" };
  const known = isList ? typed.slice(0, typed.lastIndexOf(",") + 1) : "";
  const words = typeof completes === "string" ? await namesOf(completes, line, terminal) : completes;
  return { offered: wordsOf(words.map((word) => known + word)).filter(startsWith(typed)) };
}

/** Returns objects: `deployment/web`, or `web` after the word `deployment`. */
async function objectsFor(
  kinds: readonly ArgumentKind<string>[],
  current: string,
  line: CommandLine,
  terminal: Terminal,
): Promise<Candidates> {
  const [typed = "", name] = current.split("/");
  const before = (word: string) => kinds.find(({ names }) => names.includes(word.toLowerCase()));
  const named =
    name === undefined ? line.words.map(before).find((row) => row !== undefined) : findArgumentKind(typed, kinds);
  if (named !== undefined) {
    const names = await namesOf(named, line, terminal);
    const prefix = name === undefined ? "" : `${typed}/`;
    return { offered: wordsOf(names.map((each) => prefix + each)).filter(startsWith(current)) };
  }
  if (name !== undefined) return nothing;
  // Of the kinds with a group in their name, only those that this Wave rolls.
  const others = acceptsWorkloads(kinds) ? await otherKinds(line, terminal) : [];
  const all = [...kinds.map(({ kind }) => kind.toLowerCase()).filter((kind) => !kind.includes(".")), ...others];
  const offered = wordsOf(all.map((kind) => `${kind}/`)).filter(startsWith(current));
  return { offered, continues: offered.length > 0 };
}
