// Mechanisms without any knowledge of Kubernetes or Wave.
/** Source of time for all code, so that tests can control it. */
export interface Clock {
  /** Milliseconds since the epoch by the wall clock. It may jump, and continues while the machine is suspended. */
  readonly wall: () => number;
  /** Milliseconds from a fixed point. It never goes back. */
  readonly monotonic: () => number;
  /** Calls `callback` once in `ms` milliseconds. The returned function cancels the call. */
  readonly timer: (ms: number, callback: () => void) => () => void;
}

/** Maximum delay of setTimeout, in milliseconds: a longer one would fire immediately. */
export const longestTimerMs = 2 ** 31 - 1;

/** The clocks and timers of the machine. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  timer: (ms, callback) => {
    // On a busy machine the time of a timer may already be over, and Node.js warns about negative delays.
    const timeout = setTimeout(callback, Math.max(0, ms));
    return () => clearTimeout(timeout);
  },
};

/** Resolves after `ms` milliseconds. Rejects with the reason of `signal` as soon as that is aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.timer(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
