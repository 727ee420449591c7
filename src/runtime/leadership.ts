/** One term in which this process may write: what a leader elector gives to those that work for the leader. */
export interface Leadership {
  /** Aborted when the term is to end in good order: nothing new is taken on, what has begun is finished. */
  readonly stop: AbortSignal;
  /** Aborted when the term is over: writes in flight are aborted, nothing is sent any more. */
  readonly abort: AbortSignal;
  /**
   * Whether this process may write at this very moment, by the clock. Asked right before each write, because a process
   * that was suspended wakes up before its timers tell it that its term ended. Once false it stays false, and `abort`
   * is aborted.
   */
  readonly valid: () => boolean;
}

/** Leads until `stop`: for a process that does not elect a leader and has nobody to lose its term to. */
export function soleLeadership(stop: AbortSignal): Leadership {
  return { stop, abort: new AbortController().signal, valid: () => true };
}
