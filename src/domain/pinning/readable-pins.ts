import type { Lookup } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload.ts";
import { pinnedLookup } from "./pinned-lookup.ts";
import { formatPins, parsePins, pinsIn } from "./pins.ts";

/** The pins of a pod template whose copies have what its Pods read. */
export interface ReadablePins {
  /** The annotation; undefined if no copy is left. */
  readonly pinned: string | undefined;
  /** The ConfigMaps whose copies are gone or lack a key, sorted. Pods read them live. */
  readonly live: readonly string[];
}

/**
 * Removes the pins of a workload whose copies its Pods cannot read. A copy that `before` names too was stored for the pod template of `before`,
 * and has only the keys that this template reads. Malformed pins stay: no Pod is pointed by them.
 */
export function readablePins(workload: Workload, before: Workload | undefined, lookup: Lookup): ReadablePins {
  const { pinned } = workload;
  const pins = pinned === undefined ? undefined : parsePins(pinned);
  if (pins === undefined) return { pinned, live: [] };
  const earlier = pinsIn(before?.pinned);
  const isEarlier = (name: string) => pins.get(name) === earlier.get(name);
  const live = [
    ...pinnedLookup(workload, lookup, isEarlier, before).unusable,
    ...pinnedLookup(workload, lookup, (name) => !isEarlier(name)).unusable,
  ].sort();
  if (live.length === 0) return { pinned, live };
  const left = new Map([...pins].filter(([name]) => !live.includes(name)));
  return { pinned: left.size === 0 ? undefined : formatPins(left), live };
}
