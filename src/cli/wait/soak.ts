import { formatDuration } from "../../domain/syntax/duration.ts";
import { sentences } from "../output/sentences.ts";

/** The time for which a workload must stay complete. Begins again if the workload is not complete, or if a container restarts. */
export class Soak {
  readonly #ms: number;
  #complete: { readonly since: number; readonly restarts: number } | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Returns a check that is done only after the soak time. `now` is monotonic, in milliseconds. */
  afterSoak(check: WaitCheck, now: number): WaitCheck {
    if (check.progress !== "done" || this.#ms === 0) {
      this.#complete = undefined;
      return check;
    }
    if (this.#complete?.restarts !== check.restarts) this.#complete = { since: now, restarts: check.restarts };
    if (now - this.#complete.since >= this.#ms) return check;
    const message = sentences(check.message, `Waiting until this is so for ${formatDuration(this.#ms)}`);
    return { ...check, progress: "open", message };
  }
}

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
