/** Time as everything in Wave sees it, so that tests can move it by hand. */
export interface Clock {
  /** Milliseconds since the epoch by the wall clock: may jump, and goes on while a machine is suspended. */
  readonly wall: () => number;
  /** Milliseconds from some fixed point: never goes back. */
  readonly monotonic: () => number;
  /** Calls `callback` once, `ms` milliseconds from now; the returned function cancels that. */
  readonly timer: (ms: number, callback: () => void) => () => void;
}

/** The longest time that setTimeout can count, in milliseconds: a longer one would fire at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** The machine's own clocks and timers. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  timer: (ms, callback) => {
    // A machine that is busy comes to set a timer when it is over already, and Node warns of times below 0.
    const timeout = setTimeout(callback, Math.max(0, ms));
    return () => clearTimeout(timeout);
  },
};

/** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as `signal` is aborted. */
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
