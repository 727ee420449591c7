import { describeObject } from "../config/messages.ts";
import type { Hold } from "../decision/hold.ts";
import type { PacingFlags } from "../policy/pacing-flags.ts";
import type { ConfigName } from "../references/references.ts";
import type { Stage } from "./stage.ts";

/**
 * A change of one object, for the workloads of one namespace that read it: of another namespace, where the object is shared,
 * nobody can be their canary or halt them.
 */
export interface BatchGroup {
  readonly object: ConfigName;
  readonly namespace: string;
  /** Those that the change concerns, in any order, but those with `waves: "off"`. */
  readonly members: readonly BatchMember[];
}

/** A workload that a change concerns. */
export interface BatchMember {
  /** As `workloadKey` makes it. */
  readonly key: string;
  /** Higher goes first. */
  readonly priority: number;
  readonly stage: Stage;
}

/** Who of a {@link WaveGroup} may start. */
export interface Wave {
  /** The keys of those that are due and may start now, in their order. */
  readonly go: ReadonlySet<string>;
  /** What holds the others that are due. */
  readonly hold: Hold;
  /** Whether too many failed. */
  readonly halted: boolean;
  /** When time alone may change this, milliseconds since the epoch; undefined: never. */
  readonly again: number | undefined;
}

/**
 * Who may start: first `firstWave` workloads, alone; when these have passed, the rest, at most `maxConcurrent` at once.
 * One failure in the first wave, or `haltAfterFailures` later, halts all others, except those that a person resumed.
 * Nobody waits for a change that concerns no more workloads than the first wave has.
 *
 * The answer follows only from how far each member is, so it is the same after a restart: nobody has to remember a
 * wave. It holds only for now: later another workload may have to go first.
 */
export function batchOf({ object, namespace, members }: BatchGroup, flags: PacingFlags): Wave {
  const { canarySize, maxConcurrent } = flags;
  const count = countStages(members);
  const again = soonest(members);
  const halted = isHalted(count, members.length, flags);
  const described = describeObject(object, namespace);
  const free = Math.max(0, maxConcurrent - count.underWay);
  if (halted) {
    const resumed = members.filter(isResumedAfter(lastFailure(members))).sort(inOrder);
    return { go: keysOf(resumed.slice(0, free)), hold: haltedBy(described), halted, again };
  }
  const due = members.filter(({ stage }) => stage.state === "due").sort(inOrder);
  // Where a failure does not halt it is past like a success.
  const openToAll = members.length <= canarySize || count.passed + count.failed >= canarySize;
  const begun = count.underWay + count.soaking + count.passed + count.failed;
  const slots = openToAll ? free : Math.min(free, Math.max(0, canarySize - begun));
  const soaks = !openToAll && begun >= canarySize && count.underWay === 0 ? again : undefined;
  return { go: keysOf(due.slice(0, slots)), hold: goingFirst(described, soaks), halted, again };
}

/** Whether too many of a group failed, whoever else is due. */
function isHalted(count: Counts, members: number, flags: PacingFlags): boolean {
  const { canarySize, haltAfterFailures } = flags;
  if (haltAfterFailures === 0 || members <= canarySize) return false;
  return count.failed >= (count.passed < canarySize ? 1 : haltAfterFailures);
}

type Counts = Readonly<Record<Stage["state"], number>>;

function countStages(members: readonly BatchMember[]): Counts {
  const counts = { due: 0, heldElsewhere: 0, underWay: 0, soaking: 0, passed: 0, failed: 0 };
  for (const { stage } of members) counts[stage.state]++;
  return counts;
}

/** When that one of those that failed was rolled which was rolled last. */
function lastFailure(members: readonly BatchMember[]): number {
  return members.reduce((last, { stage }) => (stage.state === "failed" ? Math.max(last, stage.rolledAt) : last), 0);
}

/** Who is due and was resumed by a person who could know of all that failed: not of what was rolled only after that. */
function isResumedAfter(failure: number): (member: BatchMember) => boolean {
  return ({ stage }) => stage.state === "due" && stage.resumedAt !== undefined && stage.resumedAt >= failure;
}

function soonest(members: readonly BatchMember[]): number | undefined {
  let first = Number.POSITIVE_INFINITY;
  for (const { stage } of members) if ("until" in stage && stage.until < first) first = stage.until;
  return Number.isFinite(first) ? first : undefined;
}

function inOrder(a: BatchMember, b: BatchMember): number {
  return b.priority - a.priority || (a.key < b.key ? -1 : 1);
}

function keysOf(members: readonly BatchMember[]): ReadonlySet<string> {
  return new Set(members.map(({ key }) => key));
}

/** Without numbers, so that hundreds of workloads are not told anew whenever one is complete. */
function goingFirst(object: string, until: number | undefined): Hold {
  return {
    reason: "batch",
    message: `other workloads go first with this change of ${object}; it follows when they are complete`,
    until,
    warning: false,
  };
}

function haltedBy(object: string): Hold {
  return {
    reason: "halted",
    message: `workloads failed with this change of ${object}: it goes on when that changes again, when they recover, or by "wave resume"`,
    until: undefined,
    warning: true,
  };
}
