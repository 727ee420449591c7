import type { Environment, FlagTable } from "../flags/parse-flags.ts";
import type { KindRow } from "./workload-argument.ts";

/** What a command has of the world around it. */
export interface Terminal {
  readonly env: Environment;
  readonly homeDir: string;
  /** What people typed to call it: "kubectl wave" where it is kubectl's plugin. */
  readonly program: "wave" | "kubectl wave";
  /** Standard input, from when it is asked for. */
  readonly input: () => AsyncIterable<Uint8Array>;
  /** Writes to standard output. */
  readonly write: (text: string) => void;
  /** Writes to standard error: logs, and what went wrong. */
  readonly writeError: (text: string) => void;
  /** Whether a person reads standard output as it comes. */
  readonly outputToTerminal: boolean;
  /** The columns of the terminal that standard output is; undefined where it is none, or does not tell. */
  readonly outputColumns: number | undefined;
  /** Whether a person reads standard error as it comes. */
  readonly errorsToTerminal: boolean;
}

/**
 * One command: does what its arguments say and resolves with the exit code. Throws a UsageError where they are wrong;
 * any other error is a bug.
 */
export interface Command {
  (args: readonly string[], terminal: Terminal): Promise<number>;
  /** What it takes, for shells that complete it; undefined: nothing. */
  readonly takes?: Taken;
}

/** What a command takes. */
export interface Taken {
  readonly flags: FlagTable;
  /** The kinds of the objects that it is given by name; undefined: none. */
  readonly kinds?: readonly KindRow<string>[] | undefined;
}

/** A command with what it takes. */
export function taking(command: Command, takes: Taken): Command {
  return Object.assign((args: readonly string[], terminal: Terminal) => command(args, terminal), { takes });
}
