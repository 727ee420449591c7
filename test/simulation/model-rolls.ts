import { namespaceLateMs } from "./model-policy.ts";
import { readHash, recordedHash, schedulerOf, schedulerOnHold, workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Recording, StoredObject } from "./record.ts";

/** A write of a workload by Wave. */
export interface WaveWrite {
  readonly at: number;
  /** The latest time at which it was sent. */
  readonly sentAt: number;
  readonly rv: number;
  readonly replica: string;
  readonly before: StoredObject;
  readonly after: StoredObject;
  /**
   * The effect of the write. "roll": replaces Pods that ran with another hash. "first": sets the first hash. "quiet": creates
   * no new Pods, or removes a scheduling hold, so that there is no running Pod to replace.
   */
  readonly kind: "roll" | "first" | "quiet";
  /** The maximum offset of the wall clock of the sender, in milliseconds. */
  readonly wallOffMs: number;
  /** Text for messages. */
  readonly what: string;
}

/** Returns the write of Wave that made a change of a workload; undefined if another client made the change. */
export function waveWriteOf(entry: HistoryEntry, { lives }: Pick<Recording, "lives">): WaveWrite | undefined {
  const { at, rv, by, before, after, resource } = entry;
  if (by.actor !== "wave" || before === undefined || after === undefined || isNote(entry)) return undefined;
  if (!workloadResources.includes(resource)) return undefined;
  const was = recordedHash(before);
  const isNew = was !== recordedHash(after) || (rolledAt(before) !== rolledAt(after) && !isRepair(entry));
  const quiet = !isNew || schedulerOf(before) === schedulerOnHold;
  const { replica = "" } = by;
  const { namespace, name } = after.metadata;
  return {
    at,
    sentAt: by.sentAt ?? at,
    rv,
    replica,
    before,
    after,
    kind: quiet ? "quiet" : was === undefined ? "first" : "roll",
    wallOffMs: lives.find((life) => life.replica === replica)?.wallOffMs ?? 0,
    what: `${replica} on ${resource} ${namespace}/${name} at ${at} ms`,
  };
}

/** The maximum staleness of a cache during faults, and without faults. No cache is ahead of the storage. */
const lateMs = { storm: namespaceLateMs, calm: 15_000 };

/** Returns since when everything that the sender of a write knew may have been stored. */
export function knownSince({ sentAt }: WaveWrite, { calmAt }: Pick<Recording, "calmAt">): number {
  return sentAt - (sentAt > calmAt + 30_000 ? lateMs.calm : lateMs.storm);
}

/** Reports whether Wave only noted on a workload that its configuration differed: such a write replaces no Pod. */
export function isNote({ by }: HistoryEntry): boolean {
  return by.actor === "wave" && by.fieldManager === "wave-annotations";
}

/** Reports whether Wave rolled a workload to what its Pods should have read already, to replace mixed Pods. */
export function isRepair({ by, before, after }: HistoryEntry): boolean {
  const isRolled = by.actor === "wave" && after !== undefined && rolledAt(before) !== rolledAt(after);
  return isRolled && readHash(before) === readHash(after);
}

function rolledAt(object: StoredObject | undefined): string | undefined {
  const { template } = (object?.spec ?? {}) as { readonly template?: { readonly metadata?: StoredObject["metadata"] } };
  return template?.metadata?.annotations?.["wave.pusher.com/rolled-at"];
}

/** Reports whether managedFields show every client when Wave last wrote an object. */
export function isKnownRolled({ metadata }: StoredObject): boolean {
  const { managedFields = [] } = metadata as {
    readonly managedFields?: readonly { readonly manager?: string; readonly subresource?: string }[];
  };
  return managedFields.some(({ manager, subresource }) => manager === "wave" && subresource === undefined);
}
