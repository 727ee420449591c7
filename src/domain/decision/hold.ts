/** What keeps a write that is due from being made now, in the order in which it is asked: the first that does is told. */
export type HoldReason =
  /** Only told, by `mode: observe` or `--observe`. */
  | "observed"
  /** An annotation that says when to roll cannot be read: whoever wrote it did not want a roll at any time. */
  | "invalid"
  /** `hold: "true"` on the workload, its Namespace, or on all objects that changed. */
  | "hold"
  /** `mode: approve`, and this hash is not approved. */
  | "approval"
  /** Outside of its window. */
  | "window"
  /** What it reads has just changed and may change again. */
  | "settling"
  /** Something takes away what Wave writes. */
  | "reverted"
  /** Its last roll is too short a time ago. */
  | "interval"
  /** Its last roll is still under way. */
  | "progressing"
  /** Other workloads that the same change concerns go first. */
  | "batch"
  /** Too many of the workloads that the same change concerns failed. */
  | "halted";

/** Why a write that is due may not be made yet. */
export interface Hold {
  readonly reason: HoldReason;
  /** One line for a person: why, and what ends it. The same as long as the hold is the same. */
  readonly message: string;
  /** When it ends by itself, milliseconds since the epoch, and is to be planned again; undefined where something else ends it. */
  readonly until: number | undefined;
  /** When its window closes, milliseconds since the epoch, and is what holds it from then on. */
  readonly closesAt?: number;
  /** Whether a person must do something, so that its Event is a Warning. */
  readonly warning: boolean;
}
