/** What the flags say of when a due roll may happen, for all workloads that do not say otherwise. */
export interface PacingFlags {
  /**
   * How long after the last change of what it reads a workload rolls, milliseconds. 0: at once, each change, so that neither
   * how long ago its last roll was ("interval") nor that this is still under way ("progressing") holds it.
   */
  readonly settleMs: number;
  /** How long after the first one it rolls at the latest, milliseconds. */
  readonly settleMaxMs: number;
  /** How many rollouts one change may have under way at once; 0: waves are off. */
  readonly maxConcurrent: number;
  /** How many workloads of one change go before the rest. */
  readonly canarySize: number;
  /** How long those must have been complete, milliseconds. */
  readonly soakMs: number;
  /** After how many failures in later waves the rest is halted; one suffices in the first. 0: never. */
  readonly haltAfterFailures: number;
  /** After how long a rollout that is not complete has failed, milliseconds. */
  readonly rolloutTimeoutMs: number;
  /** Whether nothing is written at all. */
  readonly observe: boolean;
  /** When workloads may roll, as the annotation `window` is written; undefined: at any time. */
  readonly window: string | undefined;
}

/** Everything at once, for tests and measurements of the rest. */
export const unpaced: PacingFlags = {
  settleMs: 0,
  settleMaxMs: 0,
  maxConcurrent: 0,
  canarySize: 1,
  soakMs: 0,
  haltAfterFailures: 0,
  rolloutTimeoutMs: 600_000,
  observe: false,
  window: undefined,
};
