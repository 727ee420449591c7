import { NamespaceTimeline, saidOf } from "./model-policy.ts";
import { isComplete } from "./model-progress.ts";
import { isKnownRolled, type WaveWrite, waveWriteOf } from "./model-rolls.ts";
import { recordedHash, workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Pacing, Recording, StoredObject } from "./record.ts";

const streakAnnotation = "wave.pusher.com/consecutive-rollouts";

/** A roll that comes so long after the one before is none in a row with it. */
const quietMs = 600_000;
/** A rollout that makes no progress for so long is stuck. */
const stuckMs = 30_000;
/** Of times of the API, which have seconds, and of requests on their way. */
const slackMs = 2_500;
/** How fast the slowest and the fastest clock may go, compared with the true one. */
const drift = 0.96;
/** So often the same hash is written where somebody takes it away, and once more by whoever leads then. */
const mostTries = 10;

/** What is known of the rolls of one workload, whoever led. */
interface Rolls {
  /** When Wave rolled it last; undefined where somebody has since removed what tells of it. */
  lastAt: number | undefined;
  /** How many came in a row. */
  streak: number;
  /** Whether nothing was left to do at some moment since. */
  wasComplete: boolean;
  /** The hash that each process wrote last, and how often in a row. */
  readonly tries: Map<string, { readonly hash: string | undefined; readonly count: number }>;
}

/**
 * Of two rolls of one workload the second comes after the wait that their row asks for, and its own `min-interval`; and it
 * comes when the first is complete, or was seen to be stuck, which takes its time. Who leads makes no difference as long as the
 * API tells of the roll. What somebody takes away again is not written for ever.
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
    const states = namespaces.between(after.metadata.namespace, write.sentAt - quietMs, write.sentAt);
    const minIntervals = states.map((namespace) => saidOf(write.before, namespace, pacing).minIntervalMs);
    const wrong = wrongIn(write, rolls, pacing, Math.min(...minIntervals));
    note(rolls, write);
    return wrong.map((what) => `pace: ${write.what}: ${what}`);
  });
}

function wrongIn(write: WaveWrite, rolls: Rolls, pacing: Pacing, minIntervalMs: number): readonly string[] {
  const { at, before, after, kind, replica, wallOffMs } = write;
  const wrong: string[] = [];
  const { hash, count = 0 } = rolls.tries.get(replica) ?? {};
  if (hash === recordedHash(after) && count >= mostTries) wrong.push(`it wrote the same hash ${count + 1} times`);
  if (rolls.lastAt === undefined || kind !== "roll" || !isKnownRolled(before)) return wrong;
  const slack = slackMs + 2 * wallOffMs;
  const gap = at - rolls.lastAt;
  const flapping = pacing.settleMs === 0 ? 0 : Math.min(300_000, 10_000 * 2 ** (rolls.streak - 1));
  const wait = Math.max(flapping, minIntervalMs);
  if (gap < drift * wait - slack) wrong.push(`it rolled ${gap} ms after roll ${rolls.streak} in a row, not ${wait}`);
  const stuck = Math.min(stuckMs, pacing.rolloutTimeoutMs);
  if (pacing.settleMs > 0 && !rolls.wasComplete && gap < drift * stuck - slack) {
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
  // By a clock that is ahead the quiet time may be over.
  const inRow = rolls.lastAt !== undefined && at - rolls.lastAt + 2 * wallOffMs < drift * quietMs;
  rolls.streak = inRow ? rolls.streak + 1 : 1;
  rolls.lastAt = at;
  rolls.wasComplete = isComplete(after);
}

/** Whoever takes away what tells of the last roll, or of its row, makes it forgotten. */
function see(rolls: Rolls, { by }: HistoryEntry, before: StoredObject | undefined, after: StoredObject): void {
  if (isComplete(after)) rolls.wasComplete = true;
  if (by.actor === "wave") return;
  const streak = (object: StoredObject | undefined) => object?.metadata.annotations?.[streakAnnotation];
  const changed = recordedHash(before) !== recordedHash(after) || streak(before) !== streak(after);
  if (!changed && isKnownRolled(after)) return;
  rolls.lastAt = undefined;
  rolls.streak = 0;
}
