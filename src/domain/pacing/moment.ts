import type { LegacyVerification } from "../config/legacy-hash.ts";
import type { HoldReason } from "../outcomes/outcomes.ts";
import type { NewPods } from "../pods/new-pods.ts";
import type { PodTimes } from "../pods/pod-state.ts";
import type { ConfigName } from "../references/references.ts";

/** What a list of its Pods shows about a workload. */
export interface ListedPods {
  /** The earliest times of its Pods; undefined: it has no Pods. */
  readonly times: PodTimes | undefined;
  /** The resourceVersion of the list: the list shows all Pods that were created before, and no other. */
  readonly listedUpTo: number;
  /** When the API server had answered, in monotonic milliseconds: the list shows an earlier state. Undefined: unknown. */
  readonly answeredAt?: number | undefined;
  /** One moment before the API server answered, by both clocks: monotonic milliseconds, and seconds since the epoch. Undefined: unknown. */
  readonly requested?: { readonly monotonic: number; readonly serverTime: number } | undefined;
  /** Whether the workload may have changed since. Then the list can prove something, because later Pods are newer, and cannot disprove it. */
  readonly isEarlier?: boolean;
}

/**
 * Returns since when an object that the caches do not hold has been absent, at the latest, in monotonic milliseconds. Undefined: unknown, or the
 * caches hold it.
 */
export type AbsentSince = (object: ConfigName) => number | undefined;

/** Pods with the recorded hash that may run another configuration. */
export interface MixedPods {
  /** The number of these Pods, and of all Pods of the workload. */
  readonly mixed: number;
  readonly total: number;
  /** What they read: configuration that was reverted, or live configuration although the template names copies. */
  readonly cause: "reverted" | "unpinned";
}

/** An alert that fires in a namespace. */
interface FiringAlert {
  readonly name: string;
  /** When it was first seen to fire, in milliseconds since the epoch; undefined: there was no answer for a time before. */
  readonly since: number | undefined;
}

/** What the alert gate knows of a namespace. */
export type NamespaceAlerts =
  /** No alert fires, or the answers are missing for so long that rollouts go on. */
  | { readonly state: "none" }
  /** At least one alert fires. */
  | { readonly state: "firing"; readonly alerts: readonly FiringAlert[] }
  /** Prometheus has not answered yet, or is away. `isRequired`: rollouts wait for its answer, however long that takes. */
  | { readonly state: "unknown"; readonly isRequired: boolean };

/** What the caller knows about one workload at the time of a plan. Times are milliseconds since the epoch. */
export interface Moment {
  readonly now: number;
  /** The first and the last change of its configuration that has not settled yet; undefined if there is none. */
  readonly changes: { readonly first: number; readonly last: number } | undefined;
  /** The last write of this process to the workload; undefined if there is none. Then only the stored state is known. */
  readonly lastWrite: LastWrite | undefined;
  /** The time of the last progress of its rollout: since then no new Pod became ready. */
  readonly progressSince: number;
  /** When more Pods than before were replaced or available, in milliseconds since the epoch. Default: unknown. */
  readonly advancedAt?: number | undefined;
  /** The longest time for which the last rollout was complete, in milliseconds. Default: unknown, as 0. */
  readonly completeMs?: number;
  /** What the Pods of the last rollout show. Default: not known. */
  readonly newPods?: NewPods | undefined;
  /** What the alert gate knows of its namespace. Default: there is no gate. */
  readonly alerts?: NamespaceAlerts | undefined;
  /** The alert that this process saw begin to fire during the last rollout. Default: only the stored one is known. */
  readonly failedAlert?: string | undefined;
  /** What a list of its Pods has shown; absent if they were not listed. */
  readonly pods?: ListedPods | undefined;
  /** Default: unknown for all objects. */
  readonly absentSince?: AbsentSince | undefined;
  /** Pods that run another configuration than that of the recorded hash; absent if none are known. */
  readonly mixed?: MixedPods | undefined;
  /** The verification of a hash of another controller; undefined if there is none. */
  readonly legacy?: LegacyVerification | undefined;
  /** The names of the annotations that `kubectl rollout undo` changed. Default: not known. */
  readonly changedByUndo?: readonly string[] | undefined;
  /** The last hold of the due write that was reported. Default: none is known. */
  readonly heldBy?: HoldReason | undefined;
  /** The last pins that another client restored although some copies are gone. Default: not known. */
  readonly unrestored?: UnrestoredPins | undefined;
}

/** Pins that another client restored, of which some ConfigMaps have no copy, or a copy that lacks a key. */
export interface UnrestoredPins {
  readonly uid: string;
  readonly pinned: string | undefined;
  readonly names: readonly string[];
}

/** A write of Wave to a pod template. */
export interface LastWrite {
  readonly at: number;
  readonly hash: string;
  /** The number of rollouts without a quiet period between them, including this one. */
  readonly consecutiveRollouts: number;
  /** How many times in a row this hash was written again because another client removed it. */
  readonly timesReverted: number;
}
