/** The result of one check of a workload. */
export interface WaitCheck {
  /** "open": waiting longer may help. "over": only a person can continue. */
  readonly progress: "done" | "open" | "over";
  /** Whether everything that the result depends on could be read. */
  readonly complete: boolean;
  /** The state with its cause: `held (window)`. */
  readonly state: string;
  readonly message: string;
  /** The next step for a person; "" if there is none. */
  readonly next: string;
  /** How often containers restarted. */
  readonly restarts: number;
}
