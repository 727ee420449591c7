import type { Pod, PodSpec } from "#kubernetes";
import { podReferences } from "../model/pod-references.ts";
import type { Pins } from "./pins.ts";
import { pinsOfPod, pointPod } from "./point-pod.ts";

/**
 * What a Pod reads in place of the pinned ConfigMaps of its workload. "pinned": only copies. "partly pinned": copies and live
 * configuration. "unpinned": no copy.
 */
type PodPinState = "pinned" | "partly pinned" | "unpinned";

/** The pinned copies that a Pod reads. */
export interface PodPins {
  readonly state: PodPinState;
  /** The index of the revision whose copies the Pod reads; undefined if the Pod does not read all copies of one revision. */
  readonly revision: number | undefined;
  /** The pinned ConfigMaps that the Pod reads live, sorted. */
  readonly live: readonly string[];
}

/**
 * Returns which copies a Pod reads. Only the references of its spec decide, because Kubernetes rejects changes of them after the Pod is created.
 * `revisions` are the pins of the revisions that the Pod may belong to. The first revision that fits is returned.
 */
export function podPins(spec: PodSpec | undefined, revisions: readonly Pins[]): PodPins {
  return pinsRead(configMapsOf(spec), revisions);
}

/** Returns the same as {@link podPins} for the names of the ConfigMaps that a Pod references. */
export function pinsRead(names: ReadonlySet<string>, revisions: readonly Pins[]): PodPins {
  const found = revisions.findIndex((pins) => pins.size > 0 && pins.values().every((copy) => names.has(copy)));
  const sources = found === -1 ? revisions : revisions.slice(found, found + 1);
  const live = [...new Set(sources.flatMap((pins) => [...pins.keys()]))].filter((name) => names.has(name)).sort();
  const readsCopy = revisions.some((pins) => pins.values().some((copy) => names.has(copy)));
  const revision = found === -1 ? undefined : found;
  if (!readsCopy) return { state: "unpinned", revision, live };
  return { state: live.length === 0 ? "pinned" : "partly pinned", revision, live };
}

/**
 * Reports whether a Pod reads no copy although its annotation names copies: it was created without the policy and while the webhook did not
 * answer. A Pod that reads some copies was pointed, and another webhook has added a container later.
 */
export function isUnpinned(pod: Pod): boolean {
  const pins = pinsOfPod(pod);
  return pins !== undefined && pointPod(pod, pins).length > 0 && podPins(pod.spec, [pins]).state === "unpinned";
}

/** Returns the names of the ConfigMaps that a pod spec references. */
export function configMapsOf(spec: PodSpec | undefined): ReadonlySet<string> {
  const names = new Set<string>();
  if (spec === undefined) return names;
  podReferences(spec, "", ({ kind, name }) => {
    if (kind === "ConfigMap") names.add(name);
  });
  return names;
}
