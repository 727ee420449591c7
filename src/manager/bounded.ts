import { type Clock, sleep } from "../lib/clock.ts";

/**
 * Settles as `work` does, but rejects `limitMs` after `stop` was aborted if it has not by then: a process that was told
 * to stop must end while it still can say why it is late.
 */
export async function boundedStop(options: {
  readonly work: Promise<void>;
  readonly stop: AbortSignal;
  readonly limitMs: number;
  readonly clock: Clock;
}): Promise<void> {
  const { work, stop, limitMs, clock } = options;
  const settled = new AbortController();
  const limit = Promise.withResolvers<never>();
  const onStop = () => {
    sleep(clock, limitMs, settled.signal).then(
      () => limit.reject(new Error(`not everything had ended ${limitMs / 1000}s after being told to stop`)),
      () => {}, // it ended in time
    );
  };
  if (stop.aborted) onStop();
  else stop.addEventListener("abort", onStop, { once: true });
  try {
    await Promise.race([work, limit.promise]);
  } finally {
    settled.abort();
    stop.removeEventListener("abort", onStop);
  }
}
