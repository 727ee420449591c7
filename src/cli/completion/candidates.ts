import type { Command } from "../command/command.ts";
import { type ArgumentKind, findArgumentKind, acceptsWorkloads } from "../command/workload-argument.ts";
import type { Flag } from "../flags/flag-types.ts";
import type { FlagTable } from "../flags/parse-flags.ts";

/** What a shell may offer for a word. */
export interface Candidates {
  readonly offered: readonly Candidate[];
  /** Whether files are offered instead. */
  readonly files?: boolean;
  /** Whether more of the same word follows: a name after `deployment/`. */
  readonly goesOn?: boolean;
}

/** One of them, with what it means. */
export interface Candidate {
  readonly word: string;
  readonly means?: string | undefined;
}

/** What candidates are made from. */
export interface Completable {
  /** Every command with what it does. */
  readonly summaries: ReadonlyMap<string, string>;
  readonly load: (name: string) => Promise<Command>;
  /** Words that commands take which have no flags and no objects. */
  readonly words: Readonly<Record<string, readonly string[]>>;
  /** The names that there are in the cluster, asked with the words of the line; none where it does not answer soon. */
  readonly namesOf: (asked: NameQuery) => Promise<readonly string[]>;
  /** The kinds that the Wave that runs rolls besides the built-in ones, such as `rollouts.argoproj.io`; none likewise. */
  readonly otherKinds: (line: CommandLine) => Promise<readonly string[]>;
}

/** What of a line says which cluster and namespace are meant. */
export interface CommandLine {
  readonly flags: FlagTable;
  /** The words before the one that is being typed. */
  readonly words: readonly string[];
}

/** Which names of a cluster are asked for. */
export interface NameQuery extends CommandLine {
  readonly of: ArgumentKind<string> | "namespaces";
}

const nothing: Candidates = { offered: [] };

/** What may follow the words of a line after the name of the program, the last of which is being typed. */
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
  const asked = { flags: accepts.flags, words: before };
  const flag = afterFlags ? undefined : flagOf(accepts.flags, before.at(-1) ?? "");
  if (flag?.placeholder !== undefined) return valuesOf(flag, current, { ...asked, words: before.slice(0, -1) }, wave);
  if (!afterFlags && current.startsWith("-")) return flagsFor(accepts.flags, current, asked, wave);
  return objectsFor(accepts.kinds ?? [], current, asked, wave);
}

function wordsOf(words: readonly string[]): readonly Candidate[] {
  return words.map((word) => ({ word }));
}

function startsWith(typed: string): (candidate: Candidate) => boolean {
  return ({ word }) => word.startsWith(typed);
}

/** The flag that a word is, without a value. */
function flagOf(flags: FlagTable, word: string): Flag<unknown> | undefined {
  const name = /^--?([^=]+)$/.exec(word)?.[1];
  if (name === undefined) return undefined;
  return Object.hasOwn(flags, name) ? flags[name] : Object.values(flags).find(({ short }) => short === name);
}

async function flagsFor(flags: FlagTable, current: string, asked: CommandLine, wave: Completable): Promise<Candidates> {
  const [, name, value] = /^(--?[^=]+)=(.*)$/s.exec(current) ?? [];
  if (name === undefined) {
    const all = Object.entries(flags).map(([flag, { help }]) => ({ word: `--${flag}`, means: help }));
    return {
      offered: [...all, { word: "--help", means: "Show what it does, and its flags." }].filter(startsWith(current)),
    };
  }
  const flag = flagOf(flags, name);
  if (flag === undefined) return nothing;
  const { offered, ...rest } = await valuesOf(flag, value ?? "", asked, wave);
  return { ...rest, offered: offered.map(({ word, means }) => ({ word: `${name}=${word}`, means })) };
}

/** Of a list after commas what comes next. */
async function valuesOf(
  { completes, placeholder = "" }: Flag<unknown>,
  typed: string,
  asked: CommandLine,
  wave: Completable,
): Promise<Candidates> {
  if (completes === undefined) return { offered: [], files: placeholder === "FILE" || placeholder === "DIR" };
  const known = placeholder.endsWith(",…") ? typed.slice(0, typed.lastIndexOf(",") + 1) : "";
  const words = completes === "namespaces" ? await wave.namesOf({ of: completes, ...asked }) : completes;
  return { offered: wordsOf(words.map((word) => known + word)).filter(startsWith(typed)) };
}

/** `deployment/web`, or `web` after the word `deployment`. */
async function objectsFor(
  kinds: readonly ArgumentKind<string>[],
  current: string,
  asked: CommandLine,
  wave: Completable,
): Promise<Candidates> {
  const [typed = "", name] = current.split("/");
  const before = (word: string) => kinds.find(({ names }) => names.includes(word.toLowerCase()));
  const named = name === undefined ? asked.words.map(before).find((row) => row !== undefined) : findArgumentKind(typed, kinds);
  if (named !== undefined) {
    const names = await wave.namesOf({ of: named, ...asked });
    const prefix = name === undefined ? "" : `${typed}/`;
    return { offered: wordsOf(names.map((each) => prefix + each)).filter(startsWith(current)) };
  }
  if (name !== undefined) return nothing;
  // Of the others those alone that are rolled here: a name with a dot says of which group they are.
  const others = acceptsWorkloads(kinds) ? await wave.otherKinds(asked) : [];
  const all = [...kinds.map(({ kind }) => kind.toLowerCase()).filter((kind) => !kind.includes(".")), ...others];
  const offered = wordsOf(all.map((kind) => `${kind}/`)).filter(startsWith(current));
  return { offered, goesOn: offered.length > 0 };
}
