import { repository } from "../../lib/project-address.ts";
import { type Flag, UsageError } from "../flags/flag-types.ts";
import { type Arguments, type FlagTable, type HelpScope, parseFlags, variableOf } from "../flags/parse-flags.ts";
import { joined, unbreakable, wrapped } from "../output/table.ts";
import { type ArgumentKind, accepting, type Command, exitCodes, type Terminal, version } from "./command.ts";

/** The help of one command, without its flags. `--help` shows the usual case, `--help-all` everything. */
export interface CommandHelp {
  /** `wave list [flags]`. */
  readonly usage: string;
  /** One or two sentences that start with a verb. */
  readonly description: string;
  /** Command lines with their purposes. `--help` shows the first two. */
  readonly examples: readonly (readonly [command: string, purpose: string])[];
  /** The names of the flags that `--help` shows; undefined: all. */
  readonly usualFlags?: readonly string[];
  /** Paragraphs after the description, in `--help-all` only. */
  readonly details?: readonly string[];
  /** Words with their meanings, in `--help-all` only. */
  readonly words?: { readonly heading: string; readonly meanings: Readonly<Record<string, string>> };
  /** The meanings of the exit codes, in `--help-all` only. */
  readonly exits?: Readonly<Record<number, string>>;
}

/** The columns of a help text. */
const width = 80;
/** The widest column of names before their descriptions. */
const widestColumn = 34;
const usualExamples = 2;
/** The characters of a text that is kept on one line. */
const shortLength = 24;

/** Returns the text of `wave COMMAND --help` or `--help-all`. Lines have at most 80 columns, except examples that are longer. */
export function renderHelp(help: CommandHelp, table: FlagTable, scope: HelpScope): string {
  return scope === "all" ? renderAll(help, table) : renderUsual(help, table);
}

function renderUsual(help: CommandHelp, table: FlagTable): string {
  const { examples, usualFlags = Object.keys(table) } = help;
  const shown = Object.entries(table).filter(([name]) => usualFlags.includes(name));
  const heads = shown.map(([name, flag]) => flagHead(name, flag));
  const command = help.usage.split(" ").slice(0, 2).join(" ");
  return joined([
    ...beginning(help, examples.slice(0, usualExamples)),
    ...(shown.length === 0 ? [] : ["", "Flags:", ...described(heads, shown.map(shortFlagText))]),
    "",
    `More: ${command} --help-all (all flags${help.exits === undefined ? "" : ", exit codes"})`,
  ]);
}

function renderAll(help: CommandHelp, table: FlagTable): string {
  const lines = [...beginning(help, help.examples)];
  for (const paragraph of help.details ?? []) lines.push("", ...paragraphLines(paragraph));
  const all = Object.entries(table).filter(([, { hasNoEffect }]) => !hasNoEffect);
  for (const group of new Set(all.map(([, flag]) => flag.group))) {
    const members = all.filter(([, flag]) => flag.group === group);
    const heads = members.map(([name, flag]) => flagHead(name, flag));
    lines.push("", `${group}:`, ...described(heads, members.map(flagText)));
  }
  if (help.words !== undefined) lines.push("", `${help.words.heading}:`, ...meaningLines(help.words.meanings));
  if (help.exits !== undefined) lines.push("", "Exit codes:", ...meaningLines(help.exits));
  const example = Object.keys(table).find((name) => name.includes("-"));
  if (example !== undefined)
    lines.push(
      "",
      ...paragraphLines(
        `Each flag has an environment variable: ${variableOf(example)} for --${example}. A flag overrides its variable.`,
      ),
    );
  return joined(lines);
}

/** Returns words with their meanings in two columns. */
export function meaningLines(meanings: Readonly<Record<string, string>>): readonly string[] {
  return described(
    Object.keys(meanings).map((word) => `  ${word}`),
    Object.values(meanings),
  );
}

/** Returns a paragraph in lines of the width of a help text. */
export function paragraphLines(text: string): readonly string[] {
  return wrapped(text, width);
}

function beginning({ description, usage }: CommandHelp, examples: CommandHelp["examples"]): readonly string[] {
  return [
    ...paragraphLines(description),
    "",
    `Usage: ${usage}`,
    ...(examples.length === 0 ? [] : ["", "Examples:"]),
    ...exampleLines(examples),
  ];
}

/** Returns command lines with their purposes behind them in a column, or above them if the line becomes too long. */
function exampleLines(examples: CommandHelp["examples"]): readonly string[] {
  const fits = ([command, purpose]: CommandHelp["examples"][number]) => `  ${command}  # ${purpose}`.length <= width;
  const longest = Math.max(0, ...examples.filter(fits).map(([command]) => command.length));
  const areAligned = examples.filter(fits).every(([, purpose]) => longest + purpose.length + 6 <= width);
  return examples.flatMap((example) => {
    const [command, purpose] = example;
    if (!fits(example)) return [`  # ${purpose}`, `  ${command}`];
    return [`  ${areAligned ? command.padEnd(longest) : command}  # ${purpose}`];
  });
}

function flagHead(name: string, flag: Flag<unknown>): string {
  const short = flag.short === undefined ? "    " : `-${flag.short}, `;
  return `  ${short}--${name}${flag.placeholder === undefined ? "" : ` ${flag.placeholder}`}`;
}

function flagText([, { help, shownDefault = "" }]: readonly [string, Flag<unknown>]): string {
  return withDefault(help, shownDefault);
}

/** Returns heads with their texts in a column as wide as the widest head that fits; a wider head has a line of its own. */
function described(heads: readonly string[], texts: readonly string[]): readonly string[] {
  const fitting = heads.map(({ length }) => length + 2).filter((each) => each <= widestColumn);
  const column = Math.max(8, ...fitting);
  return heads.flatMap((head, index) => {
    const body = wrapped(texts[index] ?? "", width - column).map((line) => " ".repeat(column) + line);
    if (head.length + 2 > column) return [head, ...body];
    return [head.padEnd(column) + (body[0] ?? "").trimStart(), ...body.slice(1)];
  });
}

/** Returns the first sentence of the help, and a short default. */
function shortFlagText([, { help, shownDefault = "" }]: readonly [string, Flag<unknown>]): string {
  const [sentence = ""] = help.split(/(?<=\.) (?=[A-Z`0-9])/, 1);
  return withDefault(sentence, shownDefault.length > shortLength ? "" : shownDefault);
}

/** Adds a default to a text, on one line if it is short. */
function withDefault(text: string, shownDefault: string): string {
  if (shownDefault === "") return text;
  const added = `(default: ${shownDefault})`;
  return `${text} ${added.length > shortLength ? added : added.replaceAll(" ", unbreakable)}`;
}

/** The pages of the docs with what they are about, by name, in the order of docs/index.md. `wave help` prints them. */
export const docsPages = {
  "quick-start": "See Wave work on your own cluster.",
  comparison: "Decide between Wave and another controller.",
  "opt-in": "Opt in a workload, and avoid the first restart.",
  pacing: "Control the time of rollouts: windows, holds, approvals, canaries.",
  "safe-changes": "Stop a bad edit: validators, the canary, the alert gate, returns.",
  "secret-operators": "Use Wave with secret operators and the Secrets Store CSI driver.",
  rollouts: "Undo, pause, autoscalers and mixed Pods.",
  pinning: "Let the Pods of a revision read stored copies of their ConfigMaps.",
  install: "Install, upgrade and remove Wave.",
  production: "Values for a hardened installation, and sizing.",
  migration: "Migrate from Wave in Go, SAP's pod-reloader or Stakater's Reloader.",
  gitops: "Use Wave with Argo CD, Flux and pipelines.",
  notifications: "Send Events to Slack, Teams, Google Chat or a webhook.",
  "on-call": "Stop every rollout, and solve an incident.",
  alerts: "What each alert means, and what to do.",
  troubleshooting: "Find out why a workload does not roll.",
  concepts: "How Wave decides.",
  webhooks: "The webhooks of Wave and their certificates.",
  security: "The permissions of Wave, and attacks.",
  annotations: "All annotations.",
  ui: "Look at rollouts in your browser.",
  commands: "All commands and their output.",
  flags: "All flags of wave run.",
  events: "All Events and errors, with the next step for each.",
  metrics: "All metrics.",
  kinds: "The kinds of workloads, and the limits of Wave.",
} as const;

/** Returns the address of a page of the docs of this version, with a heading if one is given; without a public repository, its file in the source. */
export function docsAddress(page: keyof typeof docsPages, heading?: string): string {
  const file = `docs/${page}.md${heading === undefined ? "" : `#${heading}`}`;
  return repository === undefined ? file : `${repository}/blob/v${version()}/${file}`;
}

/** One call of a command. */
export interface CommandCall<T extends FlagTable> extends Arguments<T> {
  readonly terminal: Terminal;
}

/** A command as a row: its flags, its help and its work. */
export interface FlagCommandRow<T extends FlagTable> {
  readonly flags: T;
  /** Whether environment variables set flags; true by default. */
  readonly readsVariables?: boolean;
  /** The kinds of object that the command takes by name; undefined if it takes no object. */
  readonly kinds?: readonly ArgumentKind<string>[] | undefined;
  readonly help: CommandHelp;
  /** Returns the error about an argument that is no flag; undefined if the command takes such arguments. */
  readonly surplus?: ((argument: string) => string) | undefined;
  /** Does the work and resolves with the exit code. Throws a UsageError for an invalid argument. */
  readonly run: (call: CommandCall<T>) => Promise<number>;
}

/** Builds a command that answers `--help`, `--help-all` and `--version`, and otherwise runs. */
export function flagCommand<T extends FlagTable>(row: FlagCommandRow<T>): Command {
  const { flags, readsVariables = true, kinds, help, surplus, run } = row;
  const command: Command = async (args, terminal) => {
    const parsed = parseFlags(flags, args, readsVariables ? terminal.env : {});
    if (parsed.action !== "run") {
      terminal.write(parsed.action === "help" ? renderHelp(help, flags, parsed.scope) : `wave ${version()}\n`);
      return exitCodes.done;
    }
    const [argument] = parsed.positionals;
    if (argument !== undefined && surplus !== undefined) throw new UsageError(surplus(argument));
    return run({ ...parsed, terminal });
  };
  return accepting(command, { flags, kinds });
}
