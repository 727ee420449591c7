import { isNote } from "./model-rolls.ts";
import { recordedHash, workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Recording, StoredObject } from "./record.ts";

/** The reasons of the Events that report a write. */
const ofWrites = ["ConfigChanged", "ConfigHashAdded", "ConfigRecorded", "RolloutReturned", "SchedulingEnabled"];

/** The reasons of the Events that report the end of a rollout. */
const ofEnds = ["RolloutStuck", "RolloutComplete", "RolloutFailed", "RolloutResolved"];

/** Errors of an API server in trouble, which do not concern the owner of a workload. */
const ofTheServer = /etcdserver|shutting down|too many requests|fault of the simulation|did not complete within/;

/** A write must have its own Event if no other write follows for this long; Events of close writes may be merged. */
const quietMs = 3_000;

/** The maximum time from a write to its Event, in milliseconds. */
const telling = 5_000;

/** How long no Event is tried in a namespace after the namespace rejected an Event. */
const refused = 10_000;

interface Told {
  readonly uid: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

/**
 * Judges Events. A write is reported at most once, and exactly once if its writer keeps running and nothing fails. No two
 * Events report the same state at the same time. A controller may also report a hash that another client recorded (the
 * webhook or the previous leader), if it sent the same hash and got no answer: it cannot know whose write was stored.
 */
export function judgeEvents(run: Recording): readonly string[] {
  const { history, calmAt, endAt, lives } = run;
  /** The times at which a write of each workload (by uid) was reported, as often as the counts of its Events. */
  const told = new Map<string, number[]>();
  /** The highest count that each Event (by uid) has had: a request that arrives late stores an older, lower count again. */
  const counted = new Map<string, number>();
  /** The times at which one of these Events was sent: a process continues from its last known count, and others may have reported meanwhile. */
  const sent = new Map<string, number[]>();
  const writes = new Map<string, { all: number; calm: readonly number[]; name: string }>();
  const alive = new Map<string, Told>();
  const violations: string[] = [];
  const steps = history.filter(({ by }) => by.actor === "world").map(({ at }) => at);
  for (const entry of history) {
    if (entry.resource === "events") tell(entry);
    else if (workloadResources.includes(entry.resource)) write(entry);
  }
  const live = new Set(survivors(history));
  return violations.concat(
    [...writes].flatMap(([uid, { all, calm, name }]) => judge(uid, all, calm, name)),
    doubled(),
  );

  function tell({ at, before, after }: HistoryEntry): void {
    const object = after ?? before;
    if (object === undefined) return;
    const now = after && toldBy(after);
    if (now === undefined) alive.delete(object.metadata.uid);
    else alive.set(object.metadata.uid, now);
    if (now !== undefined && ofTheServer.test(now.message)) {
      violations.push(`events: an owner is told of the API server's trouble at ${at} ms: ${now.message}`);
    }
    if (now === undefined || !ofWrites.includes(now.reason)) return;
    sent.set(now.uid, [...(sent.get(now.uid) ?? []), at]);
    const highest = counted.get(object.metadata.uid) ?? 0;
    counted.set(object.metadata.uid, Math.max(highest, now.count));
    const times = Math.max(0, now.count - highest);
    told.set(now.uid, [...(told.get(now.uid) ?? []), ...Array.from({ length: times }, () => at)]);
  }

  function write(entry: HistoryEntry): void {
    const { at, by, before, after, resource } = entry;
    if (after === undefined || isNote(entry)) return;
    const byWave = by.actor === "wave";
    if (!byWave && recordedHash(after) === recordedHash(before)) return;
    const { uid, namespace, name } = after.metadata;
    const sum = writes.get(uid) ?? { all: 0, calm: [], name: `${resource} ${namespace}/${name}` };
    const crashed = lives.some(({ replica, end }) => replica === by.replica && end !== undefined);
    const calm = byWave && at >= calmAt + refused && at < endAt - telling && !crashed && isQuietAfter(at);
    writes.set(uid, { ...sum, all: sum.all + 1, calm: calm ? [...sum.calm, at] : sum.calm });
  }

  function isQuietAfter(at: number): boolean {
    return !steps.some((step) => step > at && step < at + quietMs);
  }

  function judge(uid: string, all: number, calm: readonly number[], name: string): readonly string[] {
    const times = told.get(uid) ?? [];
    const open = run.sent.filter(({ what, unanswered }) => unanswered && what.includes(pathOf(name))).length;
    if (times.length > all + open)
      return [`events: ${name} was written ${all} times and told of ${times.length} times`];
    if (!live.has(uid)) return [];
    const untold = calm.filter((from) => !sent.get(uid)?.some((at) => at >= from && at <= from + telling));
    return untold.map((at) => `events: ${name} was written at ${at} ms, when all was calm, and nobody was told`);
  }

  function doubled(): readonly string[] {
    const alike = Map.groupBy(alive.values(), ({ uid, type, reason, message }) =>
      [uid, type, reason, message].join("\0"),
    );
    return [...alike.values()].flatMap((events) => {
      const [{ reason, message } = { reason: "", message: "" }] = events;
      // Two rollouts for the same keys may take the same time. Each has its own Event.
      if (ofEnds.includes(reason)) return [];
      return events.length > 1 ? [`events: ${events.length} say the same, ${reason}: ${message}`] : [];
    });
  }
}

/** Returns the path of a key such as "deployments one/w0". */
function pathOf(name: string): string {
  const [resource = "", namespace, own] = name.split(/[ /]/);
  return `/namespaces/${namespace}/${resource}/${own}?`;
}

function toldBy(event: StoredObject): Told | undefined {
  const {
    involvedObject,
    type,
    reason,
    message,
    count = 1,
  } = event as Partial<Told> & {
    readonly involvedObject?: { readonly uid?: string; readonly kind?: string; readonly name?: string };
    readonly reportingComponent?: string;
  };
  if (event.reportingComponent !== "wave" || involvedObject?.uid === undefined) return undefined;
  // An object that does not exist has no uid.
  const { kind, name } = involvedObject;
  const uid = involvedObject.uid || `${kind}/${event.metadata.namespace}/${name}`;
  return { uid, type: type ?? "", reason: reason ?? "", message: message ?? "", count };
}

function survivors(history: readonly HistoryEntry[]): Iterable<string> {
  const alive = new Set<string>();
  for (const { resource, before, after } of history) {
    if (!workloadResources.includes(resource)) continue;
    if (after === undefined) alive.delete(before?.metadata.uid ?? "");
    else alive.add(after.metadata.uid);
  }
  return alive;
}
