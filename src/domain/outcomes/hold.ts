import type { ConfigName } from "../references/references.ts";

/** What delays a due write, in the order of the checks. The first hold that applies is reported. */
export type HoldReason =
  /** `mode: observe` or `--observe`: Wave only reports. */
  | "observed"
  /** A person holds every rollout, by an annotation on the Namespace of Wave. */
  | "clusterHold"
  /** A pacing annotation has an invalid value. */
  | "invalid"
  /** `hold: "true"` on the workload, its Namespace, or all changed objects. */
  | "hold"
  /** `mode: approve`, and the current hash is not approved. */
  | "approval"
  /** The time is outside the window. */
  | "window"
  /** The configuration has just changed and may change again. */
  | "settling"
  /** Another client removes the hash that Wave writes. */
  | "reverted"
  /** The previous rollout was too recent. */
  | "interval"
  /** The previous rollout is in progress. */
  | "progressing"
  /** An alert fires in the namespace. */
  | "alert"
  /** Prometheus has not answered whether an alert fires. */
  | "alertsUnknown"
  /** Other workloads that read the changed object roll first. */
  | "batch"
  /** Too many workloads failed after the change. */
  | "halted"
  /** A validator refused the change, or a required validator cannot check it. */
  | "validator";

/** Why a due write must not happen yet. */
export interface Hold {
  readonly reason: HoldReason;
  /** State, cause and next step, for people. The text does not change while the hold is the same. */
  readonly message: string;
  /** When the hold ends by itself and the workload must be planned again, milliseconds since the epoch; otherwise undefined. */
  readonly until: number | undefined;
  /** When the window of the workload closes, milliseconds since the epoch. From then on the window holds the write. */
  readonly closesAt?: number;
  /** The changed object whose batch holds the write; absent for other holds. */
  readonly object?: ConfigName;
  /** When the leader reported the halt on its object, in monotonic milliseconds: one report is one notification. Absent for other holds, and in commands. */
  readonly haltReportedAt?: number;
  /** Whether a person must act, so that the Event is a Warning. */
  readonly warning: boolean;
}
