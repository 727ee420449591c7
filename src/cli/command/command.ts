// What every command is made of: terminal, arguments, help, exit codes, errors, the connection to a cluster. This folder knows no command.
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
