import { restarts } from "./judge-excuses.ts";
import { hasExit } from "./judge-validators.ts";
import { hasOutgrownCopies } from "./model-pins.ts";
import { NamespaceTimeline, saidOf } from "./model-policy.ts";
import { isComplete } from "./model-progress.ts";
import { isKnownRolled, type WaveWrite, waveWriteOf } from "./model-rolls.ts";
import { isValidator, recordedHash, workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Pacing, Recording, StoredObject } from "./record.ts";

const streakAnnotation = "wave.pusher.com/consecutive-rollouts";

/** The wait after so many consecutive rollouts. A rollout after twice this time, and after 10 minutes at least, is not consecutive. */
const waitAfter = (streak: number) => Math.min(3_600_000, 10_000 * 2 ** (streak - 1));
const leastQuietMs = 600_000;
const quietAfter = (streak: number) => Math.max(leastQuietMs, 2 * waitAfter(streak));
/** A rollout without progress for this long is stuck. */
const stuckMs = 30_000;
/** The tolerance for times of the API, which have whole seconds, and for requests in flight. */
const slackMs = 2_500;
/** By the fastest clock, a wait is over after this share of its true duration. */
const drift = 0.96;
/** The maximum number of times that one process writes the same hash while another client removes it. */
const mostTries = 10;

/** What is known about the rollouts of one workload, by any leader. */
interface Rolls {
  /** The time of the last rollout by Wave; undefined if another client has since removed the record of it. */
  lastAt: number | undefined;
  /** The number of consecutive rollouts. */
  streak: number;
  /** Whether nothing was left to do at some moment since. */
  wasComplete: boolean;
  /** The last hash that each process wrote, and how often in a row. */
  readonly tries: Map<string, { readonly hash: string | undefined; readonly count: number }>;
}

/**
 * Judges the pace: the second of two rollouts of one workload starts after the backoff of consecutive rollouts and after its
 * own `min-interval`, unless the first has failed, and after the first rollout is complete or was stuck for long enough. The rules hold for any leader, as
 * long as the API shows the rollout. They do not hold for a pod template that reads keys which its copies lack. A write that another client removes is not repeated forever.
 */
export function judgePace(run: Recording): readonly string[] {
  const { pacing } = run.settings;
  if (pacing === undefined) return [];
  const namespaces = new NamespaceTimeline(run.history);
  const workloads = new Map<string, Rolls>();
  return run.history.flatMap((entry) => {
    const { resource, before, after } = entry;
    if (!workloadResources.includes(resource) || after === undefined) return [];
    const rolls = rollsOf(workloads, after);
    const write = waveWriteOf(entry, run);
    if (write === undefined || write.kind === "quiet") {
      see(rolls, entry, before, after);
      return [];
    }
    const states = namespaces.between(after.metadata.namespace, write.sentAt - leastQuietMs, write.sentAt);
    const minIntervals = states.map((namespace) => saidOf(write.before, namespace, pacing).minIntervalMs);
    const wrong = wrongIn(write, rolls, pacing, Math.min(...minIntervals), run);
    note(rolls, write);
    return wrong.map((what) => `pace: ${write.what}: ${what}`);
  });
}

/** Returns when the last wait between consecutive rollouts is over that a workload may have begun, in true virtual milliseconds. */
export function lastWaitEnd({ history, lives, settings }: Pick<Recording, "history" | "lives" | "settings">): number {
  if ((settings.pacing?.settleMs ?? 0) === 0) return 0;
  const last = new Map<string, { readonly at: number; readonly streak: number }>();
  for (const entry of history) {
    const write = waveWriteOf(entry, { lives });
    // The API dates the last rollout by this manager, which also ends scheduling holds.
    if (write === undefined || entry.by.fieldManager !== "wave") continue;
    const { at, wallOffMs, after } = write;
    const before = last.get(after.metadata.uid);
    const isNext = before !== undefined && at - before.at - 2 * wallOffMs < quietAfter(before.streak);
    last.set(after.metadata.uid, { at, streak: isNext ? before.streak + 1 : 1 });
  }
  return Math.max(0, ...last.values().map(({ at, streak }) => at + waitAfter(streak)));
}

/** Reports whether a workload became complete a moment before a write, which Wave may not have seen. */
function becameComplete({ at, sentAt, before: { metadata } }: WaveWrite, { history }: Recording): boolean {
  return history.some(
    ({ before, after, at: then }) =>
      then <= at &&
      then > sentAt - slackMs &&
      before !== undefined &&
      after?.metadata.uid === metadata.uid &&
      !isComplete(before) &&
      isComplete(after),
  );
}

function wrongIn(
  write: WaveWrite,
  rolls: Rolls,
  pacing: Pacing,
  minIntervalMs: number,
  run: Recording,
): readonly string[] {
  const { at, before, after, kind, replica, wallOffMs } = write;
  const wrong: string[] = [];
  const { hash, count = 0 } = rolls.tries.get(replica) ?? {};
  if (hash === recordedHash(after) && count >= mostTries) wrong.push(`it wrote the same hash ${count + 1} times`);
  if (rolls.lastAt === undefined || kind !== "roll" || !isKnownRolled(before)) return wrong;
  if (hasOutgrownCopies(write, run)) return wrong;
  const slack = slackMs + 2 * wallOffMs;
  const gap = at - rolls.lastAt;
  const flapping = pacing.settleMs === 0 ? 0 : waitAfter(rolls.streak);
  const wait = Math.max(flapping, minIntervalMs);
  // A failed rollout does not hold its fix. One that was complete for less than the soak time, and is not any more, may fail, too.
  const isDeaf = run.lives.some((life) => life.replica === replica && life.deafAt !== undefined && life.deafAt <= at);
  const sawComplete = rolls.wasComplete && isComplete(before) && !isDeaf && !becameComplete(write, run);
  const timedOut = !sawComplete && gap >= drift * pacing.rolloutTimeoutMs - slack;
  const hasExited = isValidator(before) && hasExit(before, rolls.lastAt - slack, at, run.history);
  const hasFailed = timedOut || hasExited || restarts(before, rolls.lastAt - slack, run);
  if (!hasFailed && gap < drift * wait - slack)
    wrong.push(`it rolled ${gap} ms after roll ${rolls.streak} in a row, not ${wait}`);
  const stuck = Math.min(stuckMs, pacing.rolloutTimeoutMs);
  if (pacing.settleMs > 0 && !rolls.wasComplete && !hasExited && gap < drift * stuck - slack) {
    wrong.push(`it rolled ${gap} ms after a roll that is still under way`);
  }
  return wrong;
}

function rollsOf(workloads: Map<string, Rolls>, { metadata }: StoredObject): Rolls {
  const rolls = workloads.get(metadata.uid) ?? { lastAt: undefined, streak: 0, wasComplete: true, tries: new Map() };
  workloads.set(metadata.uid, rolls);
  return rolls;
}

function note(rolls: Rolls, { at, replica, after, wallOffMs }: WaveWrite): void {
  const hash = recordedHash(after);
  const tries = rolls.tries.get(replica);
  rolls.tries.set(replica, { hash, count: tries !== undefined && tries.hash === hash ? tries.count + 1 : 1 });
  // By a wrong clock, the quiet time may be over already.
  const inRow = rolls.lastAt !== undefined && at - rolls.lastAt + 2 * wallOffMs < drift * quietAfter(rolls.streak);
  rolls.streak = inRow ? rolls.streak + 1 : 1;
  rolls.lastAt = at;
  rolls.wasComplete = isComplete(after);
}

/** Notes a change that is no rollout of Wave. Wave forgets the last rollout if another client removed or changed its record. */
function see(rolls: Rolls, { by }: HistoryEntry, before: StoredObject | undefined, after: StoredObject): void {
  if (isComplete(after)) rolls.wasComplete = true;
  if (by.actor === "wave") return;
  const streak = (object: StoredObject | undefined) => object?.metadata.annotations?.[streakAnnotation];
  const changed = recordedHash(before) !== recordedHash(after) || streak(before) !== streak(after);
  if (!changed && isKnownRolled(after)) return;
  rolls.lastAt = undefined;
  rolls.streak = 0;
}
