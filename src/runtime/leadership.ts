/** One time of leadership: what the leader elector gives to everything that only the leader does. */
export interface Leadership {
  /** Aborted for an orderly end: nothing new starts, and running writes finish. */
  readonly stop: AbortSignal;
  /** Aborted when the leadership is lost: running writes are aborted, and nothing more is sent. */
  readonly abort: AbortSignal;
  /**
   * Reports whether this process may write now, by the clock. Callers check it right before each write, because a process
   * that was suspended wakes up before its timers report the loss. Once false, it stays false, and `abort` is aborted.
   */
  readonly valid: () => boolean;
}

/** Returns a leadership that lasts until `stop`: for a process without leader election, which cannot lose it. */
export function soleLeadership(stop: AbortSignal): Leadership {
  return { stop, abort: new AbortController().signal, valid: () => true };
}
