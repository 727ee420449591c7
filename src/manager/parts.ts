/** A part of the process that runs until it is told to stop. */
export interface Part {
  /** Tells it to stop and resolves when it has. Never rejects: its failure was reported when it happened. */
  stop(): Promise<void>;
}

/**
 * Starts a part. `onFailure` is called once if it ends without having been told to: with its error, or with one that
 * says that it ended.
 */
export function startPart(
  name: string,
  run: (signal: AbortSignal) => Promise<void>,
  onFailure: (error: unknown) => void,
): Part {
  const stopping = new AbortController();
  const ended = run(stopping.signal).then(
    () => {
      if (!stopping.signal.aborted) onFailure(new Error(`${name} ended although nothing stopped it`));
    },
    (error: unknown) => {
      // What a part throws because it was stopped is how it ends, not a failure.
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
