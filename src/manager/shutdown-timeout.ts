import { type Clock, sleep } from "../lib/clock.ts";

/**
 * Settles like `work`, but rejects if `work` has not settled `limitMs` milliseconds after `stop` was aborted. Thus the process can
 * still log why it is late before Kubernetes kills it.
 */
export async function withShutdownTimeout(options: {
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
      () => limit.reject(new Error(`shutdown took longer than ${limitMs / 1000}s`)),
      () => {}, // the work ended in time
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
