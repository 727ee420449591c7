import { recordedHash, schedulerOf, schedulerOnHold, workloadResources } from "./model-workload.ts";
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
  const [was, is] = [recordedHash(before), recordedHash(after)];
  const quiet = was === is || schedulerOf(before) === schedulerOnHold;
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

/** Reports whether Wave only noted on a workload that its configuration differed: such a write replaces no Pod. */
export function isNote({ by }: HistoryEntry): boolean {
  return by.actor === "wave" && by.fieldManager === "wave-annotations";
}

/** Reports whether Wave rolled a workload without another hash, to replace mixed Pods. */
export function isRepair({ by, before, after }: HistoryEntry): boolean {
  return by.actor === "wave" && after !== undefined && rolledAt(before) !== rolledAt(after);
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
