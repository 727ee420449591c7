/** The pacing flags: when a due rollout may start, for all workloads without their own annotations. */
export interface PacingFlags {
  /**
   * Time between the last change of configuration and the rollout, in milliseconds. 0: each change rolls immediately, and neither the
   * hold "interval" nor the hold "progressing" applies.
   */
  readonly settleMs: number;
  /** Limit of concurrent rollouts for one change. 0: batches are off. */
  readonly maxConcurrent: number;
  /** How long the canary must be complete before the next batch starts, in milliseconds. */
  readonly soakMs: number;
  /** Number of failures in later batches that halts the rest. In the canary, one failure is enough. 0: never halt. */
  readonly haltAfterFailures: number;
  /** How long a rollout may take until Wave treats it as failed, in milliseconds. */
  readonly rolloutTimeoutMs: number;
  /** Whether Wave writes nothing at all. */
  readonly observe: boolean;
  /** When workloads may roll, in the syntax of the annotation `window`; undefined: at any time. */
  readonly window: string | undefined;
}

/** Pacing flags without any delay or batch. */
export const unpaced: PacingFlags = {
  settleMs: 0,
  maxConcurrent: 0,
  soakMs: 0,
  haltAfterFailures: 0,
  rolloutTimeoutMs: 600_000,
  observe: false,
  window: undefined,
};
