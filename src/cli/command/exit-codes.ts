/**
 * How every command ends, as scripts see it: one number for one kind of ending. A signal that ends one early is 128 and its
 * number, as in a shell.
 */
export const exitCodes = {
  /** Done, or there is nothing to tell. */
  done: 0,
  /** The answer is no: something would roll, what was asked for is not there, or did not come to be. */
  no: 1,
  /** The caller's mistake: flags, arguments, a file, the kubeconfig. */
  mistake: 2,
  /** The cluster could not be asked, or not about all that the answer hangs on: it is unreachable, refuses, or does not answer in time. */
  cluster: 3,
  /** A bug of Wave's (EX_SOFTWARE of sysexits.h): no answer, so none of the others. */
  bug: 70,
} as const;

/** One of them. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * How a command ends that answers a question. A "no" stays a "no" where something could not be looked at; "done" it is
 * only where everything was.
 */
export function answered({
  no = false,
  lookedAtAll,
}: {
  readonly no?: boolean;
  readonly lookedAtAll: boolean;
}): ExitCode {
  if (no) return exitCodes.no;
  return lookedAtAll ? exitCodes.done : exitCodes.cluster;
}

/** What `--help` says of those that mean the same in every command that asks a cluster. */
export const sharedMeanings: Readonly<Record<number, string>> = {
  [exitCodes.mistake]: "a mistake in the flags or arguments, in a file, or in the kubeconfig",
  [exitCodes.cluster]:
    "something that the answer hangs on could not be looked at: the cluster is unreachable, refuses, or does not answer in time",
};
