// Whether a due write may happen now: holds, in the order of their checks. Pure: the moment and all facts are given.
import type { Lookup } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload.ts";
import type { Hold, HoldReason } from "../outcomes/hold.ts";
import type { DueDecision } from "../outcomes/outcomes.ts";
import { unpaced } from "../policy/pacing-flags.ts";
import type { Policy } from "../policy/policy.ts";
import { rolloutPolicyOf } from "../policy/rollout-policy.ts";
import { changedObjects, type DueWrite, replacesPods } from "./due.ts";
import { interval } from "./interval.ts";
import type { Moment } from "./moment.ts";
import { progressing } from "./progressing.ts";
import { reverted } from "./removed-hash.ts";
import { approval, closing, clusterHeld, hold, invalid, observed, window } from "./requested-holds.ts";
import { skipsWaits } from "./roll-request.ts";
import { settling } from "./settling.ts";

/** One check that may hold a write. */
interface HoldRow {
  /** "writes": the check applies to every write. "rollouts": only to writes that replace running Pods. */
  readonly holds: "writes" | "rollouts";
  /** Whether `wave roll`, and a pod template that reads more keys than its pins have, go past this check: the workload only waits. */
  readonly waits: boolean;
  /** Whether the changes have settled if this check holds the write: it comes after the check for settling. */
  readonly settled: boolean;
  /** Returns the hold, if it applies. Undefined for batches, which the caller checks last, for a {@link BatchCandidate}. */
  readonly hold: ((due: DueWrite) => Hold | undefined) | undefined;
  /** When each reason of the check holds a write, and what ends it. docs/pacing.md has the same table. */
  readonly reasons: Readonly<Partial<Record<HoldReason, { readonly when: string; readonly ends: string }>>>;
}

/** All checks, in order. The first hold that applies is reported. */
export const holdRows: readonly HoldRow[] = [
  {
    holds: "writes",
    waits: false,
    settled: false,
    hold: observed,
    reasons: {
      observed: { when: "`mode: observe`, or `--observe`", ends: "another mode, or a start without the flag" },
    },
  },
  {
    holds: "rollouts",
    waits: false,
    settled: false,
    hold: clusterHeld,
    reasons: {
      clusterHold: {
        when: "`hold-cluster` on the Namespace of Wave: every rollout is on hold",
        ends: "`wave release --cluster`",
      },
    },
  },
  {
    holds: "rollouts",
    waits: false,
    settled: false,
    hold: invalid,
    reasons: {
      invalid: { when: "a pacing annotation has an invalid value", ends: "a valid value, which the message describes" },
    },
  },
  {
    holds: "rollouts",
    waits: false,
    settled: false,
    hold,
    reasons: {
      hold: {
        when: '`hold: "true"` on the workload, its Namespace, or every changed object',
        ends: "`wave release`",
      },
    },
  },
  {
    holds: "rollouts",
    waits: false,
    settled: false,
    hold: approval,
    reasons: { approval: { when: "`mode: approve`, and the current hash is not approved", ends: "`wave approve`" } },
  },
  {
    holds: "rollouts",
    waits: true,
    settled: false,
    hold: window,
    reasons: {
      window: {
        when: "the time is outside the `window` annotation or `--window`",
        ends: "the window opens, or `wave roll`",
      },
    },
  },
  {
    holds: "rollouts",
    waits: true,
    settled: false,
    hold: settling,
    reasons: {
      settling: {
        when: "the configuration has just changed",
        ends: "no change for `settle`. The maximum after the first change is `--settle-max`, or ten times the `settle` annotation if that is longer. Or `wave roll`",
      },
    },
  },
  {
    holds: "rollouts",
    waits: false,
    settled: true,
    hold: reverted,
    reasons: {
      reverted: {
        when: "another client removes the hash that Wave writes",
        ends: "the same time as for `interval`. After the tenth write: another configuration, a new workload object, or a restart of Wave",
      },
    },
  },
  {
    holds: "rollouts",
    waits: true,
    settled: true,
    hold: interval,
    reasons: {
      interval: {
        when: "the previous rollout was recent. A first hash also starts this wait, a recorded configuration (Event `ConfigRecorded`) does not",
        ends: "10 s pass after the rollout, or `min-interval` if that is longer. The 10 s double for each consecutive rollout, up to 5 min. Or the previous rollout fails, or `wave roll`",
      },
    },
  },
  {
    holds: "rollouts",
    waits: true,
    settled: true,
    hold: progressing,
    reasons: {
      progressing: {
        when: "the previous rollout is in progress",
        ends: "the rollout completes or fails, 30 s pass without a new available Pod, `--rollout-timeout` is over, or `wave roll`",
      },
    },
  },
  {
    holds: "rollouts",
    waits: false,
    settled: true,
    hold: undefined,
    reasons: {
      batch: {
        when: "other workloads roll first after the same change",
        ends: "their rollouts complete, or `wave roll`",
      },
      halted: {
        when: "too many workloads failed after the same change",
        ends: "another change of the object, recovery of the failed workloads, or `wave resume`",
      },
    },
  },
];

const settledReasons = reasonsOf(({ settled }) => settled);
const waitReasons = reasonsOf(({ waits }) => waits);

function reasonsOf(matches: (row: HoldRow) => boolean): ReadonlySet<string> {
  return new Set(holdRows.filter(matches).flatMap(({ reasons }) => Object.keys(reasons)));
}

/** Reports whether `wave roll` goes past a hold with this reason. The batches, which are checked last, are not included. */
export function isWait(reason: HoldReason): boolean {
  return waitReasons.has(reason);
}

/**
 * Reports whether the changes of a due write have settled, even if another hold still delays the write. Settled changes are
 * forgotten, so that later changes have their own settle time.
 */
export function hasSettled(hold: Hold | undefined): boolean {
  return hold === undefined || settledReasons.has(hold.reason);
}

/** Returns the due write with everything that may hold it. */
export function dueWrite(
  workload: Workload,
  decision: DueDecision,
  lookup: Lookup,
  policy: Policy,
  moment: Moment,
): DueWrite {
  const flags = policy.pacing ?? unpaced;
  const { clusterHold } = policy;
  const facts = { workload, decision, lookup, policy: rolloutPolicyOf(workload, policy) };
  return { ...facts, clusterHold, flags, moment, changed: changedObjects(facts) };
}

/** Returns what holds a return to earlier pins: only a person who wants no rollout. A window or a missing approval is for changes. */
export function holdOfReturn(due: DueWrite): Hold | undefined {
  return observed(due) ?? clusterHeld(due) ?? invalid(due) ?? hold(due);
}

/** Returns what holds a due write now, apart from batches; undefined if nothing does. */
export function holdOf(due: DueWrite): Hold | undefined {
  const isRollout = replacesPods(due.workload, due.decision);
  const isUrgent = skipsWaits(due);
  for (const { holds, waits, hold: check } of holdRows) {
    if (waits && isUrgent) continue;
    const found = isRollout || holds === "writes" ? check?.(due) : undefined;
    if (found !== undefined) return isRollout ? { ...found, ...closing(due) } : found;
  }
  return undefined;
}
