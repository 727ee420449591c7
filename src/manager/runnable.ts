/** A part of the process that runs until it is stopped. */
export interface Runnable {
  /** Stops the part and resolves when it has ended. Never rejects: a failure was reported when it happened. */
  stop(): Promise<void>;
}

/**
 * Starts a part. Calls `onFailure` once if the part ends before `stop`: with its error, or with an error that names the part.
 */
export function startRunnable(
  name: string,
  run: (signal: AbortSignal) => Promise<void>,
  onFailure: (error: unknown) => void,
): Runnable {
  const stopping = new AbortController();
  const ended = run(stopping.signal).then(
    () => {
      if (!stopping.signal.aborted) onFailure(new Error(`${name} ended unexpectedly`));
    },
    (error: unknown) => {
      // An error after `stop` is the end of the part, not a failure.
      if (!stopping.signal.aborted) onFailure(error);
    },
  );
  return {
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}
