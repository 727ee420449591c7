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
