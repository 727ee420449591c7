/** Runs all until the signal is aborted. If one fails, stops the others and rejects with its error. */
export async function runAll(
  signal: AbortSignal,
  start: (signal: AbortSignal) => readonly Promise<void>[],
): Promise<void> {
  const failed = new AbortController();
  const both = AbortSignal.any([signal, failed.signal]);
  const runs = start(both).map((run) =>
    run.catch((error: unknown) => {
      if (!both.aborted) failed.abort(error);
    }),
  );
  await Promise.all(runs);
  failed.signal.throwIfAborted();
}
