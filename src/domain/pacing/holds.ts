import type { Lookup } from "../config/view.ts";
import type { DueDecision } from "../decision/decision.ts";
import type { Hold, HoldReason } from "../decision/hold.ts";
import type { Workload } from "../model/workload.ts";
import { unpaced } from "../policy/pacing-flags.ts";
import type { Policy } from "../policy/policy.ts";
import { rolloutPolicyOf } from "../policy/rollout-policy.ts";
import { inBatches } from "./batch-hold.ts";
import { type Due, isRoll } from "./due.ts";
import { interval } from "./interval.ts";
import type { Moment } from "./moment.ts";
import { progressing } from "./progressing.ts";
import { approval, closing, hold, invalid, observed, window } from "./requested-holds.ts";
import { reverted } from "./reverted.ts";
import { settling } from "./settling.ts";

/** One thing that may hold a write: one of any kind, or only one that replaces running Pods. */
interface Row {
  readonly holds: "everything" | "rolls";
  readonly hold: (due: Due) => Hold | undefined;
  /** The reasons that it gives, for people: when it holds, and what ends it. docs/pacing.md has them. */
  readonly reasons: Readonly<Partial<Record<HoldReason, { readonly when: string; readonly ends: string }>>>;
}

/** What may hold, in the order in which it is asked: the first that does is told. */
export const holdRows: readonly Row[] = [
  {
    holds: "everything",
    hold: observed,
    reasons: { observed: { when: "`mode: observe`, or `--observe`", ends: "another mode; the flag taken away" } },
  },
  {
    holds: "rolls",
    hold: invalid,
    reasons: {
      invalid: {
        when: "one of these annotations cannot be read",
        ends: "a value that can be, which the message shows",
      },
    },
  },
  {
    holds: "rolls",
    hold,
    reasons: { hold: { when: '`hold: "true"`, or on every object that changed', ends: "`wave release`" } },
  },
  {
    holds: "rolls",
    hold: approval,
    reasons: { approval: { when: "`mode: approve`, and not this hash is approved", ends: "`wave approve`" } },
  },
  {
    holds: "rolls",
    hold: window,
    reasons: { window: { when: "it is outside of its `window`, or of `--window`", ends: "the window opens" } },
  },
  {
    holds: "rolls",
    hold: settling,
    reasons: {
      settling: {
        when: "what it reads has just changed",
        ends: "no change for `settle`; `--settle-max` after the first one, or ten times a `settle` of its own",
      },
    },
  },
  {
    holds: "rolls",
    hold: reverted,
    reasons: {
      reverted: {
        when: "somebody takes away the hash that Wave writes",
        ends: "time, as for `interval`; after the tenth in a row, other configuration, a new object, or a restart of Wave",
      },
    },
  },
  {
    holds: "rolls",
    hold: interval,
    reasons: {
      interval: {
        when: "its last roll was a short time ago. A first hash counts as one, and so does the note of what its Pods see (Event `ConfigRecorded`)",
        ends: "10 s after it, twice as long after each that follows, at most 5 min; `min-interval` where that is longer",
      },
    },
  },
  {
    holds: "rolls",
    hold: progressing,
    reasons: {
      progressing: {
        when: "its last roll is still under way",
        ends: "it is complete, or failed; 30 s without a new Pod that is available; `--rollout-timeout`",
      },
    },
  },
  {
    holds: "rolls",
    hold: inBatches,
    reasons: {
      batch: { when: "others that the same change concerns go first", ends: "they are complete" },
      halted: {
        when: "too many of these failed",
        ends: "another change of the object; their recovery; `wave resume`",
      },
    },
  },
];

/** The reasons that are asked for before it is known whether changes have settled, and that itself. */
const notSettled: ReadonlySet<string> = new Set(
  holdRows.slice(0, holdRows.findIndex((row) => row.hold === settling) + 1).flatMap((row) => Object.keys(row.reasons)),
);

/**
 * Whether the changes for which a write is due have settled, even if something else still holds the write. They are
 * then forgotten, so that changes which follow have a settle time of their own.
 */
export function hasSettled(hold: Hold | undefined): boolean {
  return hold === undefined || !notSettled.has(hold.reason);
}

/** What keeps a write that is due from being made at this moment; undefined where nothing does. */
export function holdOf(
  workload: Workload,
  decision: DueDecision,
  lookup: Lookup,
  policy: Policy,
  moment: Moment,
): Hold | undefined {
  const flags = policy.pacing ?? unpaced;
  const due = { workload, decision, lookup, policy: rolloutPolicyOf(workload, policy), flags, moment };
  const roll = isRoll(workload, decision);
  for (const { holds, hold: ask } of holdRows) {
    const found = roll || holds === "everything" ? ask(due) : undefined;
    if (found !== undefined) return roll ? { ...found, ...closing(due) } : found;
  }
  return undefined;
}
