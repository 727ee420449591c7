import type { Flag } from "../flags/flag-types.ts";
import { type FlagTable, variableOf } from "../flags/parse-flags.ts";
import { unbreakable, wrapped } from "../output/wrap.ts";

/** What `--help` tells of a command besides its flags. */
export interface CommandHelp {
  /** After "Usage: ". */
  readonly usage: string;
  readonly summary: string;
  /** A command line, and what it is good for. */
  readonly examples: readonly (readonly [command: string, purpose: string])[];
  /** Words and what they mean, under a heading, after the flags. */
  readonly words?: { readonly heading: string; readonly meanings: Readonly<Record<string, string>> };
  /** Paragraphs after that. */
  readonly notes?: readonly string[];
  /** What its exit codes mean, where it has more than one. */
  readonly exits?: Readonly<Record<number, string>>;
}

const width = 100;
const column = 34;

/** The text of `wave COMMAND --help`: flags by group in the order of their table, lines of at most 100 columns. */
export function renderHelp(help: CommandHelp, table: FlagTable): string {
  const lines = [`Usage: ${help.usage}`, "", ...wrap(help.summary, 0)];
  if (help.examples.length > 0) lines.push("", "Examples");
  for (const [command, purpose] of help.examples) lines.push(...wrap(`# ${purpose}`, 2), `  ${command}`);
  for (const group of new Set(Object.values(table).map((flag) => flag.group))) {
    lines.push("", group);
    for (const [name, flag] of Object.entries(table)) if (flag.group === group) lines.push(...flagLines(name, flag));
  }
  if (help.words !== undefined) {
    lines.push("", help.words.heading);
    for (const [word, meaning] of Object.entries(help.words.meanings)) lines.push(...inColumn(`  ${word}`, meaning));
  }
  for (const note of help.notes ?? []) lines.push("", ...wrap(note, 0));
  if (help.exits !== undefined) lines.push("", "Exit codes");
  for (const [code, meaning] of Object.entries(help.exits ?? {})) lines.push(...inColumn(`  ${code}`, meaning, 6));
  const example = Object.keys(table).find((name) => name.includes("-"));
  if (example !== undefined)
    lines.push(
      "",
      ...wrap(`An environment variable stands for each flag, ${variableOf(example)} for --${example}; a flag wins.`, 0),
    );
  return `${lines.join("\n")}\n`;
}

function flagLines(name: string, flag: Flag<unknown>): string[] {
  const short = flag.short === undefined ? "" : `-${flag.short}, `;
  const head = `  ${short}--${name}${flag.placeholder === undefined ? "" : ` ${flag.placeholder}`}`;
  const shown = flag.shownDefault === undefined ? "" : ` ${unbroken(`(default ${flag.shownDefault})`)}`;
  return inColumn(head, flag.help + shown);
}

function inColumn(head: string, text: string, from = column): string[] {
  const body = wrap(text, from);
  if (head.length + 2 > from) return [head, ...body];
  return [head.padEnd(from) + (body[0] ?? "").trimStart(), ...body.slice(1)];
}

function wrap(text: string, indent: number): readonly string[] {
  return wrapped(text, width - indent).map((line) => " ".repeat(indent) + line);
}

/** Short enough to stay on one line. */
function unbroken(text: string): string {
  return text.length > 24 ? text : text.replaceAll(" ", unbreakable);
}
