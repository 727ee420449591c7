import { isDeepStrictEqual } from "node:util";
import { type Place, placesOf, type WorkloadSpec } from "./model-reading.ts";
import { knownSince, type WaveWrite } from "./model-rolls.ts";
import { writtenAt } from "./model-stored.ts";
import { annotations, readHash } from "./model-workload.ts";
import type { HistoryEntry, Recording, StoredObject } from "./record.ts";

/** The copies that Pods read, by the name of the ConfigMap that the pod spec references. */
export type Pins = ReadonlyMap<string, string>;

interface Annotated {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
}

/** Returns the pod template of a workload or ReplicaSet. */
export function templateOf(object: StoredObject | undefined): WorkloadSpec["template"] {
  return (object?.spec as WorkloadSpec | undefined)?.template;
}

/** Returns the pins of a pod template or Pod; empty if it has none. */
export function pinsOf(template: Annotated | undefined): Pins {
  const text = template?.metadata?.annotations?.[annotations.pinned];
  return new Map(text?.split(",").map((pin) => pin.split("=", 2) as [string, string]));
}

/** Reports whether an object is a pinned copy. */
export function isCopy({ metadata }: StoredObject): boolean {
  return metadata.labels?.["wave.pusher.com/pinned-copy"] === "true";
}

/** Returns a workload of which only what its Pods read is tracked, and nothing that its annotations name. */
export function onlyPods(workload: StoredObject): StoredObject {
  const { annotations: _, ...metadata } = workload.metadata;
  return { ...workload, metadata };
}

/**
 * Reports whether a write does not wait for its window, its interval or other workloads: another client changed the pod template since the last
 * rollout, and a copy that the template names lacks a key that its Pods read. The Pods are replaced anyway. A ConfigMap that was written after
 * the template is a change of its own.
 */
export function hasOutgrownCopies(write: WaveWrite, run: Pick<Recording, "history" | "epoch" | "calmAt">): boolean {
  const { before, rv } = write;
  const { uid, namespace } = before.metadata;
  const pins = pinsOf(templateOf(before));
  if (pins.size === 0) return false;
  const history = run.history.filter((entry) => entry.rv < rv);
  const own = history.filter(({ after }) => after?.metadata.uid === uid);
  const edit = own.findLast(
    ({ by, before, after }) => by.actor === "world" && !isDeepStrictEqual(templateOf(before), templateOf(after)),
  );
  const rollout = own.findLast(({ by, before, after }) => by.actor === "wave" && readHash(before) !== readHash(after));
  const secondOf = (entry: HistoryEntry | undefined) => Math.floor((run.epoch + (entry?.at ?? 0)) / 1_000);
  if (edit === undefined || secondOf(edit) < secondOf(rollout)) return false;
  const places = placesOf(onlyPods(before));
  return [...pins].some(([name, copyName]) => {
    const read = places.filter((place) => place.kind === "ConfigMap" && place.name === name);
    const copy = statesOf(copyName).at(-1)?.after;
    const sources = statesOf(name);
    const first = sources.findLastIndex(({ at }) => at <= knownSince(write, run));
    return sources.slice(Math.max(0, first)).some(({ after: source }) => {
      if (source === undefined || copy === undefined || writtenAt(source) > secondOf(edit)) return false;
      return read.some(({ through, shown }) => {
        const has = keysOf(copy, through);
        return keysOf(source, through).some((key) => (shown === "*" || shown.includes(key)) && !has.includes(key));
      });
    });
  });

  /** Returns the states of a ConfigMap of the namespace that were stored, oldest first. */
  function statesOf(name: string): readonly HistoryEntry[] {
    return history.filter(({ resource, after }) => {
      return resource === "configmaps" && after?.metadata.namespace === namespace && after?.metadata.name === name;
    });
  }
}

function keysOf({ data, binaryData }: StoredObject, through: Place["through"]): readonly string[] {
  return [...Object.keys(data ?? {}), ...(through === "files" ? Object.keys(binaryData ?? {}) : [])];
}
