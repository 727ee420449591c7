// The outcomes of a plan, and what may hold a due write.

import type { ConfigView, UnprovenTimes } from "../config/hash.ts";
import type { Change, Missing } from "../config/view-of-references.ts";
import type { ConfigName, LimitExceeded } from "../references/references.ts";
import type { Warning } from "../references/warning.ts";

/** What to do with a workload. */
export type Decision =
  /** Wave does not roll the workload: it has not opted in, or it is being deleted. */
  | { readonly outcome: "ignore" }
  /** The Pods read what new Pods would read. */
  | ({
      readonly outcome: "current";
      readonly view: ConfigView;
      /** Set if nothing shows that the Pods read it: when the configuration was recorded, its last change was not older than the Pods. */
      readonly unproven?: UnprovenTimes | undefined;
    } & MayBeProven)
  /** No hash of this algorithm is recorded, or only a scheduling hold must be removed: write the hash. */
  | ({ readonly outcome: "firstHash"; readonly hash: string; readonly view: ConfigView } & RolloutRecord)
  /** Record `hash` beside the recorded hash as what the Pods run, without new Pods. */
  | ({
      readonly outcome: "recorded";
      readonly cause: RecordedCause;
      readonly hash: string;
      readonly view: ConfigView;
      /** What new Pods would read. For untracked objects, `view` has what the existing Pods read. */
      readonly newPods: ConfigView;
      /** Set if the configuration is recorded although nothing shows that the Pods read it. */
      readonly unproven?: UnprovenTimes | undefined;
    } & IncompleteRecord &
      MayBeProven)
  /** The Pods read another configuration than new Pods would. `changed` is undefined if Wave did not see the change. */
  | ({
      readonly outcome: "roll";
      readonly hash: string;
      readonly view: ConfigView;
      readonly changed: readonly Change[] | undefined;
      /** What the reason has before and after the changes; absent: nothing. */
      readonly prefix?: string;
      readonly suffix?: string;
      /** Present if the recorded hash is the current one, and only Pods run another configuration. */
      readonly again?: true;
      /** The rollout returns to earlier pins; absent for other rollouts. */
      readonly returns?: PinsReturn;
    } & RolloutRecord)
  /** Required objects or keys are missing (sorted, each once): existing Pods are kept. "closed": new Pods are pending. */
  | { readonly outcome: "waiting"; readonly missing: readonly Missing[]; readonly schedulingHold: "closed" | "open" }
  /** The workload exceeds a limit: its configuration is not read, and existing Pods are kept. */
  | { readonly outcome: "overLimit"; readonly limitExceeded: LimitExceeded }
  /**
   * Remove a scheduling hold without a rollout, or unpause a Deployment that Stakater Reloader left paused. `newPods` is what Pods of a new
   * pod template read; absent if the workload has opted out or its configuration is not complete.
   */
  | ({ readonly outcome: "cleanUp"; readonly newPods?: ConfigView } & IncompleteRecord);

/** Where a workload returns to after a failed rollout. */
export interface PinsReturn {
  /** The pins of the earlier rollout, as in the annotation. */
  readonly pinned: string;
  /** The annotation of rejected content afterwards. */
  readonly rejected: string | undefined;
  /** The ConfigMaps whose earlier content the Pods read, sorted. */
  readonly names: readonly string[];
}

/**
 * Why a configuration is recorded without a rollout.
 * "proven": the Pods have read what is live after its last change.
 * "firstSight": the workload has no usable hash yet, and the current configuration is taken as what its Pods read.
 * "key": the key of the recorded hash is unknown, or expires with this process.
 * "tracking": the set of tracked objects changed, but not the configuration that the Pods read.
 */
export type RecordedCause = "proven" | "firstSight" | "key" | "tracking";

/** How a workload is rolled while it is not complete. */
export interface IncompleteRollout {
  /**
   * The last rollout before which the workload was complete, in milliseconds since the epoch, if no rollout has succeeded since. A change
   * that it included may have broken the workload. Undefined: there is none, or it is not known.
   */
  readonly completeBefore: number | undefined;
}

/** Present if a list of the Pods may show that they read the configuration, so that the decision is another one. */
interface MayBeProven {
  /** The resourceVersion that the list must have, or a later one. */
  readonly unlisted?: number;
  /** Present if Kubernetes is replacing the Pods, and the new ones may be such Pods. */
  readonly underWay?: true;
}

/** What is recorded with a rollout; undefined if planned without a moment. */
interface RolloutRecord extends IncompleteRecord, MayBeProven {
  /** The number of this rollout in a series without a quiet period. */
  readonly consecutiveRollouts?: number;
  /** The last edits of the changed objects, as far as they are known. */
  readonly edits?: readonly RolloutEdit[];
  /** The last hold of this rollout that was reported; absent: none. */
  readonly heldBy?: HoldReason | undefined;
}

/** The last edit of an object whose change is a cause of a rollout. Never contains a value. */
export interface RolloutEdit extends ConfigName {
  /** The keys that changed; empty if all were added or removed, or if they are not known. */
  readonly keys: readonly string[];
  /** Milliseconds since the epoch; undefined if the object does not record it. */
  readonly at: number | undefined;
  /** The field manager; undefined if the object does not record it. */
  readonly by: string | undefined;
}

/** What is recorded with a rollout, or with the end of a scheduling hold. */
interface IncompleteRecord {
  /** Present if the workload takes part in batches and is not complete before the write. */
  readonly incomplete?: IncompleteRollout | undefined;
}

/** A write that is due but must not happen yet. */
export interface Held {
  readonly outcome: "held";
  readonly due: DueDecision;
  readonly hold: Hold;
  /**
   * The objects whose changes made a rollout due: as this process saw them, otherwise by the times of the API. Undefined if neither shows any:
   * another client may have removed or replaced the hash.
   */
  readonly changed?: readonly ConfigName[] | undefined;
}

const dueOutcomes = ["firstHash", "recorded", "roll", "cleanUp"] as const;

/** A decision that writes to the workload. */
export type DueDecision = Extract<Decision, { readonly outcome: (typeof dueOutcomes)[number] }>;

/** Reports whether a plan writes to the workload. */
export function isDue<Plan extends { readonly outcome: string }>(
  plan: Plan,
): plan is Extract<Plan, { readonly outcome: DueDecision["outcome"] }> {
  return dueOutcomes.some((outcome) => outcome === plan.outcome);
}

/** Reports whether a plan replaces Pods without another hash, now or after a hold. */
export function isRollAgain(plan: Decision | Held): boolean {
  const due = plan.outcome === "held" ? plan.due : plan;
  return due.outcome === "roll" && due.again === true;
}

/** A decision with its reason in one line. */
export type ExplainedDecision = Decision & { readonly reason: string };

/** What to do with a workload, and why. */
export type RolloutPlan = (Decision | Held) & PlanTexts;

/** What to do with a workload, whether it may happen now or not. */
export type DuePlan = Decision & PlanTexts;

/** The texts of a plan, for people. */
export interface PlanTexts {
  /** Why this is the outcome: one clause for use after a colon, without a final period. For a held write: why it is due. */
  readonly reason: string;
  readonly warnings: readonly Warning[];
  /** When time alone may change the plan, apart from a hold, in milliseconds since the epoch; absent: never. */
  readonly checkAt?: number;
  /** The annotation of previous pins to write beside the plan, because the last rollout has passed: undefined removes it. Absent: no write. */
  readonly previousPins?: string | undefined;
  /** The changed objects whose batches must admit the rollout, whether they do or not; absent: it takes no part in batches. */
  readonly batched?: readonly ConfigName[];
}

/** What delays a due write, in the order of the checks. The first hold that applies is reported. The rows of `holdRows` say when each applies. */
export type HoldReason =
  | "observed"
  | "clusterHold"
  | "invalid"
  | "hold"
  | "approval"
  | "window"
  | "settling"
  | "reverted"
  | "interval"
  | "progressing"
  | "alert"
  | "alertsUnknown"
  | "batch"
  | "halted"
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
