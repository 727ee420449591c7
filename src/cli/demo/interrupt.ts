/** The numbers of signals in exit codes. Windows has no SIGPIPE, so `os.constants` there has no number for it. */
const numbers = { SIGHUP: 1, SIGINT: 2, SIGPIPE: 13, SIGTERM: 15 } as const;

/** The error of a demo that a signal ended. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  /** 128 plus the number of the signal, as in a shell. */
  readonly exitCode: number;

  constructor(signal: keyof typeof numbers) {
    super(`ended by ${signal}`);
    this.exitCode = 128 + numbers[signal];
  }
}

/** An abort signal for the end of the process. Disposing removes the listeners. */
interface Interruption extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Returns a signal that aborts with {@link Interrupted} on the first SIGINT, SIGTERM or SIGHUP, and if the reader of standard output is
 * gone, so that the demo still removes what it created. A second signal ends the process at once.
 */
export function untilInterrupted(): Interruption {
  const stop = new AbortController();
  const onSignal = (name: "SIGINT" | "SIGTERM" | "SIGHUP") => {
    const interrupted = new Interrupted(name);
    if (stop.signal.aborted) process.exit(interrupted.exitCode);
    stop.abort(interrupted);
  };
  const onOutputError = () => stop.abort(new Interrupted("SIGPIPE"));
  const others = process.stdout.listeners("error");
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of names) process.on(name, onSignal);
  process.stdout.removeAllListeners("error").on("error", onOutputError); // the others end the process at once
  return {
    signal: stop.signal,
    [Symbol.dispose]: () => {
      for (const name of names) process.off(name, onSignal);
      process.stdout.off("error", onOutputError);
      for (const other of others) process.stdout.on("error", (...args) => Reflect.apply(other, process.stdout, args));
    },
  };
}
