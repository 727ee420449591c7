// What every command is made of: terminal, arguments, help, exit codes, errors, the connection to a cluster. This folder knows no command.

import { readFileSync } from "node:fs";
import { printable } from "../../lib/printable.ts";
import type { Environment, FlagTable } from "../flags/parse-flags.ts";
import type { LiveTerminal } from "../output/live-lines.ts";
import type { ArgumentKind } from "./workload-argument.ts";

/** What a command receives from its process. */
export interface Terminal {
  readonly env: Environment;
  /** Undefined: the user has no home directory. */
  readonly homeDir: string | undefined;
  /** How a person called Wave: "kubectl wave" if kubectl runs Wave as its plugin. */
  readonly program: "wave" | "kubectl wave";
  readonly input: () => AsyncIterable<Uint8Array>;
  /** Writes to standard output. */
  readonly write: (text: string) => void;
  /** Writes to standard error: logs, warnings and errors. */
  readonly writeError: (text: string) => void;
  readonly outputToTerminal: boolean;
  /** The columns of that terminal; undefined if standard output is no terminal, or the width is unknown. */
  readonly outputColumns: number | undefined;
  readonly errorsToTerminal: boolean;
  /** The terminal of standard output, if lines that were written can be replaced; undefined for a pipe, in CI, and without a cursor. */
  readonly live: LiveTerminal | undefined;
}

/**
 * One command. Resolves with the exit code.
 * @throws UsageError for wrong arguments; any other error is a bug.
 */
export interface Command {
  (args: readonly string[], terminal: Terminal): Promise<number>;
  /** The arguments that shells complete; undefined: the command has none. */
  readonly accepts?: AcceptedArguments;
}

/** The flags of a command and the kinds of objects in its arguments, from which shells complete. */
interface AcceptedArguments {
  readonly flags: FlagTable;
  /** The kinds of the objects in its arguments; undefined: it has no such arguments. */
  readonly kinds?: readonly ArgumentKind<string>[] | undefined;
}

/** Returns a command that does the same as `command`, and whose arguments shells complete. */
export function accepting(command: Command, accepts: AcceptedArguments): Command {
  return Object.assign((args: readonly string[], terminal: Terminal) => command(args, terminal), { accepts });
}

/**
 * The exit codes of all commands: one number for one kind of ending. A command that a signal ends has code 128 plus the number
 * of the signal, as in a shell.
 */
export const exitCodes = {
  done: 0,
  /** The answer is no: something would roll, a wait did not succeed, or the object was not found. */
  no: 1,
  /** The caller made a mistake: flags, arguments, a file, or the kubeconfig. */
  usage: 2,
  /** Incomplete: the cluster was unreachable, timed out, or denied access to something that the answer depends on. */
  incomplete: 3,
  /** A bug in Wave (EX_SOFTWARE of sysexits.h). */
  bug: 70,
} as const;

/** A code of {@link exitCodes}. A command that a signal ends has another code. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * Returns the exit code of a command that answers a question. A "no" stays a "no" if the answer is incomplete. `done` needs a
 * complete answer.
 */
export function exitCodeFor({ no = false, complete }: { readonly no?: boolean; readonly complete: boolean }): ExitCode {
  if (no) return exitCodes.no;
  return complete ? exitCodes.done : exitCodes.incomplete;
}

/** The meanings of the exit codes that all cluster commands share, for `--help-all`. */
export const sharedExitCodes: Readonly<Record<number, string>> = {
  [exitCodes.usage]: "Usage error: invalid flags or arguments, a bad file, or a bad kubeconfig.",
  [exitCodes.incomplete]: "Incomplete: the cluster was unreachable, timed out, or denied access.",
};

/** The meaning of every exit code, for `wave help exit-codes`. */
export const exitCodeMeanings: Readonly<Record<string, string>> = {
  [exitCodes.done]: "Success.",
  [exitCodes.no]: "The answer is no: something would roll, a wait did not succeed, or the object was not found.",
  ...sharedExitCodes,
  [exitCodes.bug]: "Bug in Wave. Please report the output.",
  "128+N": "Ended by signal N. Example: 130 after Ctrl-C.",
};

/** Returns a line on standard output. The text may contain names that others chose. */
export function outputLine(text: string): string {
  return `${printable(text)}\n`;
}

/** Returns the line on standard error with which a command fails: `error: STATE. NEXT STEP.` */
export function errorLine(message: string): string {
  return `error: ${printable(message)}\n`;
}

/** Returns a line on standard error about something that makes the output incomplete or surprising. */
export function warningLine(message: string): string {
  return `warning: ${printable(message)}\n`;
}

/** Returns a line on standard error that explains the output. The output is complete without it. */
export function noteLine(message: string): string {
  return `note: ${printable(message)}\n`;
}

/** Set by the bundler. */
declare const bundledVersion: string | undefined;

/** Returns the version of Wave: from the bundle, or from package.json if the sources run. */
export function version(): string {
  if (typeof bundledVersion === "string") return bundledVersion;
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  const { version }: { version: string } = JSON.parse(text);
  return version;
}
