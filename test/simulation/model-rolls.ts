import { recordedHash, schedulerOf, schedulerOnHold, workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Recording, StoredObject } from "./record.ts";

/** A write of a workload by Wave. */
export interface WaveWrite {
  readonly at: number;
  /** When it was sent, at the latest. */
  readonly sentAt: number;
  readonly rv: number;
  readonly replica: string;
  readonly before: StoredObject;
  readonly after: StoredObject;
  /**
   * "roll": Pods that ran with one hash are replaced for another; "first": that a workload gets that had none; "quiet": it
   * makes no new Pods, or opens a gate, so that nothing runs that it could replace.
   */
  readonly kind: "roll" | "first" | "quiet";
  /** How far the wall clock of the process that sent it was off at most, in milliseconds. */
  readonly wallOffMs: number;
  /** For messages. */
  readonly what: string;
}

/** The write that a change of a workload is; undefined where it is none of Wave's. */
export function waveWriteOf(entry: HistoryEntry, { lives }: Pick<Recording, "lives">): WaveWrite | undefined {
  const { at, rv, by, before, after, resource } = entry;
  if (by.actor !== "wave" || before === undefined || after === undefined) return undefined;
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

/** Whether managedFields tell everybody when Wave wrote an object last. */
export function isKnownRolled({ metadata }: StoredObject): boolean {
  const { managedFields = [] } = metadata as {
    readonly managedFields?: readonly { readonly manager?: string; readonly subresource?: string }[];
  };
  return managedFields.some(({ manager, subresource }) => manager === "wave" && subresource === undefined);
}
