// Whether a due write may happen now: holds, in the order of their checks. Pure: the moment and all facts are given.
import type { Hold, HoldReason } from "../outcomes/outcomes.ts";
import { alert, alertsUnknown } from "./alerts.ts";
import { type DueWrite, replacesPods } from "./due.ts";
import { interval, progressing, reverted, settling } from "./interval.ts";
import { approval, closing, clusterHeld, hold, invalid, observed, skipsWaits, window } from "./requested-holds.ts";

/**
 * What a hold may delay: a write that replaces no Pods, a rollout, a return to earlier pins, or a replacement of Pods with an unchanged hash. An
 * approval or a halt is for changes. A return takes a change back, and the configuration of an unchanged hash was approved when it was rolled.
 */
type WriteKind = "write" | "rollout" | "return" | "replacement";

/** A command of `wave` for a hold. */
export type HoldCommand = "approve" | "explain" | "release" | "release --cluster" | "resume" | "roll";

/** One reason to hold a write. Every property of a hold is a column here. */
interface HoldRow {
  /** Returns the hold, if it applies. Undefined for the holds of batches, which are checked last. */
  readonly check: ((due: DueWrite) => Hold | undefined) | undefined;
  /** The writes to which the check applies. */
  readonly holds: readonly WriteKind[];
  /** Whether `wave roll`, and a pod template that reads more keys than its pins have, go past this hold: the workload only waits. */
  readonly isSkipped: boolean;
  /** Whether the hold ends soon by itself in most cases: an Event or a write for each would be as many as rollouts. */
  readonly isShort: boolean;
  /** Whether the held change is rolled so soon that a workload whose last rollout failed does not return to earlier pins before. */
  readonly precedesReturn: boolean;
  /** Whether other workloads wait for a validator that this hold delays. Otherwise the validator cannot check the change. */
  readonly isWaitedFor: boolean;
  /** Whether the change is halted until a person acts, because a workload failed with it. */
  readonly isHalt?: true;
  /** Whether a halt is reported in its place: the halt stays when this hold ends, and a halted workload needs no answer of Prometheus. */
  readonly yieldsToHalt?: true;
  /** The command of `wave` that ends the hold, or explains what ends it. Undefined: a person need not do anything. */
  readonly command: HoldCommand | undefined;
  /**
   * Whether Wave lists the Pods of the workload once although the hold is short: other workloads may take long, and the list may show that this one
   * need not wait.
   */
  readonly listsPods?: true;
  /** Whether `kubectl rollout status` shows what the workload waits for. Default: `wave explain` shows it. */
  readonly isRollout?: true;
  /**
   * After which time `wave doctor` reports the hold, in milliseconds; 0: at once, as a problem. Undefined: a person wants it, or another check
   * reports it.
   */
  readonly reportedAfterMs: number | undefined;
  /** The message of commands, if only the leader knows the hold: they read its reason in the annotation `state`. */
  readonly published?: string;
  /** When the reason holds a write, and what ends it. `npm run chart` writes the table of docs/pacing.md from it. */
  readonly when: string;
  readonly ends: string;
}

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

const everyRollout = ["rollout", "return", "replacement"] as const;
const everyWrite = ["write", ...everyRollout] as const;

/** A hold that a person wants, or that a person must end. */
const forPerson = {
  isSkipped: false,
  isShort: false,
  precedesReturn: false,
  isWaitedFor: false,
  command: "explain",
  reportedAfterMs: undefined,
} as const;

/** A hold that only waits. */
const wait = {
  isSkipped: true,
  isShort: true,
  precedesReturn: true,
  isWaitedFor: true,
  command: undefined,
  reportedAfterMs: 30 * minute,
} as const;

/** All holds, in the order of their checks. The first hold that applies is reported. */
export const holdRows: Readonly<Record<HoldReason, HoldRow>> = {
  observed: {
    ...forPerson,
    check: observed,
    holds: everyWrite,
    when: "`mode: observe`, or `--observe`",
    ends: "another mode, or a start without the flag",
  },
  clusterHold: {
    ...forPerson,
    check: clusterHeld,
    holds: everyRollout,
    command: "release --cluster",
    when: "`hold-cluster` on the Namespace of Wave: every rollout is on hold",
    ends: "`wave release --cluster`",
  },
  invalid: {
    ...forPerson,
    check: invalid,
    holds: everyRollout,
    when: "a pacing annotation has an invalid value",
    ends: "a valid value, which the message describes",
  },
  hold: {
    ...forPerson,
    check: hold,
    holds: everyRollout,
    command: "release",
    reportedAfterMs: day,
    when: '`hold: "true"` on the workload, its Namespace, or every changed object',
    ends: "`wave release`",
  },
  approval: {
    ...forPerson,
    isWaitedFor: true,
    check: approval,
    holds: ["rollout"],
    command: "approve",
    reportedAfterMs: day,
    when: "`mode: approve`, and the current hash is not approved",
    ends: "`wave approve`",
  },
  window: {
    ...forPerson,
    isWaitedFor: true,
    check: window,
    holds: ["rollout", "replacement"],
    isSkipped: true,
    command: "roll",
    // Every window opens at least once a week.
    reportedAfterMs: 8 * day,
    when: "the time is outside the `window` annotation or `--window`",
    ends: "the window opens, or `wave roll`",
  },
  settling: {
    ...wait,
    check: settling,
    holds: ["rollout"],
    reportedAfterMs: day,
    when: "the configuration has just changed",
    ends: "no change for `settle`. At most ten times that long after the first change. Or `wave roll`",
  },
  reverted: {
    ...forPerson,
    check: reverted,
    holds: ["rollout"],
    reportedAfterMs: 0,
    when: "another client removes the hash that Wave writes",
    ends: "the same time as for `interval`. After the tenth write: another configuration, a new workload object, or a restart of Wave",
  },
  interval: {
    ...wait,
    check: interval,
    holds: ["rollout", "replacement"],
    precedesReturn: false,
    reportedAfterMs: 8 * day,
    when: "the previous rollout was recent. A first hash also starts this wait, a recorded configuration (Event `ConfigRecorded`) does not",
    ends: "10 s pass after the rollout, or `min-interval` if that is longer. The 10 s double for each consecutive rollout, up to 1 h. Or the previous rollout fails, or `wave roll`",
  },
  progressing: {
    ...wait,
    check: progressing,
    holds: ["rollout"],
    isRollout: true,
    reportedAfterMs: hour,
    when: "the previous rollout is in progress",
    ends: "the rollout completes or fails, 30 s pass without a new available Pod, `--rollout-timeout` is over, or `wave roll`",
  },
  alert: {
    ...wait,
    check: alert,
    holds: ["rollout", "replacement"],
    yieldsToHalt: true,
    isShort: false,
    precedesReturn: false,
    command: "roll",
    reportedAfterMs: day,
    published:
      "Rollout held: an alert fires in the namespace. The Event RolloutHeld names it. Continues when it is resolved.",
    when: "an alert with the label `wave_gate` fires in the namespace, and the last rollout of the workload has not failed",
    ends: "the alert is resolved, or `wave roll`",
  },
  alertsUnknown: {
    ...wait,
    check: alertsUnknown,
    holds: ["rollout", "replacement"],
    yieldsToHalt: true,
    published: "Rollout held: Prometheus has not answered whether an alert fires. Starts when it answers.",
    when: "Prometheus has not answered yet whether an alert fires. With `--gate-required`, also while it is away",
    ends: "an answer of Prometheus, at most 2 minutes without `--gate-required`, or `wave roll`",
  },
  batch: {
    ...wait,
    check: undefined,
    listsPods: true,
    holds: ["rollout"],
    when: "other workloads roll first after the same change",
    ends: "their rollouts complete, or `wave roll`",
  },
  halted: {
    ...forPerson,
    isWaitedFor: true,
    check: undefined,
    holds: ["rollout"],
    command: "resume",
    when: "too many workloads failed after the same change",
    ends: "new content of the object, recovery of the failed workloads, or `wave resume`",
    isHalt: true,
  },
  validator: {
    ...forPerson,
    isWaitedFor: true,
    check: undefined,
    holds: ["rollout"],
    isHalt: true,
    command: "resume",
    when: "a [validator](#validators) failed after the change. With `validator-required`, also if it cannot check the change",
    ends: "a change of what the validator reads, its recovery, or `wave resume`",
  },
};

/** Reports whether a hold is a halt of the change. */
export function isHalt({ reason }: Pick<Hold, "reason">): boolean {
  return holdRows[reason].isHalt === true;
}

/** All reasons of holds, in the order of their checks. */
export const holdReasons = Object.keys(holdRows) as readonly HoldReason[];

/**
 * Reports whether the changes of a due write have settled, even if another hold still delays the write: its check comes after the check for
 * settling. Settled changes are forgotten, so that later changes have their own settle time.
 */
export function hasSettled(hold: Hold | undefined): boolean {
  return hold === undefined || holdReasons.indexOf(hold.reason) > holdReasons.indexOf("settling");
}

/** Returns what holds a return to earlier pins; undefined if nothing does. */
export function holdOfReturn(due: DueWrite): Hold | undefined {
  return firstHold(due, "return");
}

/** Returns what holds a due write now, apart from batches; undefined if nothing does. */
export function holdOf(due: DueWrite): Hold | undefined {
  if (due.decision.outcome === "roll" && due.decision.again) return firstHold(due, "replacement");
  if (!replacesPods(due.workload, due.decision)) return firstHold(due, "write");
  const found = firstHold(due, "rollout", skipsWaits(due));
  return found && { ...found, ...closing(due) };
}

/** Returns the first hold of a write. `isRequested`: whether a person or a new pod template requests it, so that holds that only wait are skipped. */
function firstHold(due: DueWrite, write: WriteKind, isRequested = false): Hold | undefined {
  for (const reason of holdReasons) {
    const { check, holds, isSkipped } = holdRows[reason];
    if (!holds.includes(write) || (isRequested && isSkipped)) continue;
    const found = check?.(due);
    if (found !== undefined) return found;
  }
  return undefined;
}
