/** How far the rollout of a workload's pod template is, as its status says it. */
export type Progress =
  /** A roll replaces no Pod: there are none, or it is not to roll by itself (paused, `OnDelete`, a partition of all). */
  | { readonly state: "idle" }
  /** Every Pod that is to be replaced is. */
  | {
      readonly state: "complete";
      /** Since when, seconds since the epoch, where its status says so. */
      readonly since: number | undefined;
    }
  | {
      readonly state: "progressing";
      /** Another number whenever a Pod was replaced or became available. */
      readonly step: number;
      /** How many of its Pods are available, old ones too. */
      readonly available: number;
      /** Whether its controller tells by itself when it takes too long, and knows of pauses that are wanted: then nobody else does. */
      readonly selfTimed?: boolean;
    }
  | {
      readonly state: "failed";
      /** The word by which its status says so; undefined: its own deadline is over, as `ProgressDeadlineExceeded`. */
      readonly says?: string;
    };
