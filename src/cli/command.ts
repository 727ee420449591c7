import type { Environment } from "./flags/parse-flags.ts";

/** What a command has of the world around it. */
export interface Terminal {
  readonly env: Environment;
  readonly homeDir: string;
  /** Standard input, from when it is asked for. */
  readonly input: () => AsyncIterable<Uint8Array>;
  /** Writes to standard output. */
  readonly write: (text: string) => void;
  /** Writes to standard error: logs, and what went wrong. */
  readonly writeError: (text: string) => void;
  /** Whether a person reads standard output as it comes. */
  readonly outputToTerminal: boolean;
  /** Whether a person reads standard error as it comes. */
  readonly errorsToTerminal: boolean;
}

/**
 * One command: does what its arguments say and resolves with the exit code. Throws a UsageError where they are wrong;
 * any other error is a bug.
 */
export type Command = (args: readonly string[], terminal: Terminal) => Promise<number>;
