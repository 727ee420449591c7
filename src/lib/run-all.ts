/** Runs all until the signal ends them; when one fails, ends the others and fails with it. */
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
