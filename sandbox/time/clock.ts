/** Time, so that tests can move it by hand. */
export interface Clock {
  /** Milliseconds since the epoch by the wall clock. */
  readonly wall: () => number;
  /** Milliseconds from a fixed point; never goes back. */
  readonly monotonic: () => number;
  /** Calls `callback` once after `ms` milliseconds; the returned function cancels the call. */
  readonly timer: (ms: number, callback: () => void) => () => void;
}

/** The clocks and timers of this machine. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  timer: (ms, callback) => {
    const timeout = setTimeout(callback, Math.max(0, ms));
    return () => clearTimeout(timeout);
  },
};

/** Resolves after `ms` milliseconds. */
export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.timer(ms, resolve);
  });
}
