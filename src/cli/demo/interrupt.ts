import { constants } from "node:os";

/** Why a story ended before its end: somebody asked for that. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  /** 128 and the number of the signal, as a shell would say. */
  readonly exitCode: number;

  constructor(signal: "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGPIPE") {
    super(`ended by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** A signal that is aborted when the process is asked to end. Disposing of it stops listening. */
export interface Interruption extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Aborted with {@link Interrupted} by the first SIGINT, SIGTERM or SIGHUP, and where nobody reads standard output any
 * more, so that what was made is removed all the same. A second signal ends the process at once.
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
