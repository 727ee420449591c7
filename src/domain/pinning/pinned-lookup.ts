import { type Config, digestOf } from "../config/digest.ts";
import { type Lookup, missingFrom } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload.ts";
import type { Reference, StoredName } from "../references/references.ts";
import { parsePins } from "./pins.ts";

/** A lookup in which some ConfigMaps have the content of their pinned copies. */
export interface PinnedLookup {
  readonly lookup: Lookup;
  /** The ConfigMaps that have the content of their copies. */
  readonly kept: ReadonlySet<string>;
  /** The ConfigMaps whose copy is gone, or lacks a key that the pod spec requires. They are read live. */
  readonly unusable: readonly string[];
}

/**
 * Returns a lookup in which the ConfigMaps that `keeps` selects have the content of the copies that the pod template names. So a plan by this
 * lookup decides what Pods of a template with these pins read. The copies were stored for `before`, if its pod template was another one.
 */
export function pinnedLookup(
  workload: Workload,
  lookup: Lookup,
  keeps: (name: string) => boolean,
  before = workload,
): PinnedLookup {
  const pins = workload.pinned === undefined ? undefined : parsePins(workload.pinned);
  if (pins === undefined) return { lookup, kept: new Set(), unusable: [] };
  const { namespace } = workload;
  const kept = new Map<string, ReturnType<Lookup>>();
  const unusable: string[] = [];
  for (const [name, copy] of pins) {
    const references = referencesTo(workload, name);
    if (references.length === 0 || !keeps(name)) continue;
    const live = lookup("ConfigMap", namespace, name);
    const stored = lookup("ConfigMap", namespace, copy);
    if (
      stored?.isCopy !== true ||
      missingFrom(references, () => stored).length > 0 ||
      (before !== workload && !copyCovers(stored, ofPodSpec(referencesTo(before, name)), ofPodSpec(references)))
    ) {
      unusable.push(name);
    } else {
      const { isCopy: _, copyBytes: _bytes, ...content } = stored;
      // What the owner of the ConfigMap decides about it applies to its copies, too.
      kept.set(name, {
        ...content,
        name,
        directive: live?.directive,
        sharedWith: live?.sharedWith,
        changedAt: live?.changedAt,
      });
    }
  }
  if (kept.size === 0) return { lookup, kept: new Set(), unusable };
  return {
    lookup: (kind, ns, name) =>
      kind === "ConfigMap" && ns === namespace && kept.has(name) ? kept.get(name) : lookup(kind, ns, name),
    kept: new Set(kept.keys()),
    unusable,
  };
}

/**
 * Reports whether a pinned copy has everything that `references` would read of its source. The copy was stored for `before`, and has only the
 * keys that those references read. All parameters are about the same ConfigMap.
 */
export function copyCovers(copy: Config, before: readonly Reference[], references: readonly Reference[]): boolean {
  return references.every(({ reads, keys }) => {
    if (reads === "existence" && keys === "all") return true;
    const hasAll = before.some((each) => each.keys === "all" && (each.reads === "files" || each.reads === reads));
    if (hasAll || keys === "all") return hasAll;
    // If the copy lacks a key that was read, its source did not have this key.
    const wasRead = (key: string) => before.some((each) => each.keys !== "all" && each.keys.includes(key));
    return keys.every((key) => digestOf(copy, key) !== undefined || wasRead(key));
  });
}

/**
 * Returns the copies in these annotations that the caches do not have yet. A copy that only appears to be gone would bring content into Pods
 * that is held or rejected.
 */
export function uncachedCopies(
  workload: Workload,
  annotations: readonly (string | undefined)[],
  cached: Lookup,
): readonly StoredName[] {
  const { namespace } = workload;
  const pins = annotations.flatMap((text) => [...((text !== undefined && parsePins(text)) || [])]);
  const named = pins.filter(([source]) => referencesTo(workload, source).length > 0).map(([, copy]) => copy);
  return [...new Set(named)]
    .filter((name) => !cached("ConfigMap", namespace, name)?.isCopy)
    .map((name) => ({ kind: "ConfigMap", namespace, name }));
}

/**
 * Returns the references of a workload to a ConfigMap of its namespace that its pod spec reads: those of the pod spec and of annotations. Returns
 * none if only annotations name it: no Pod is pointed at a copy of such a ConfigMap.
 */
export function referencesTo({ references, namespace }: Workload, name: string): readonly Reference[] {
  const all = references.filter(
    (each) => each.kind === "ConfigMap" && each.name === name && each.namespace === namespace,
  );
  return ofPodSpec(all).length === 0 ? [] : all;
}

function ofPodSpec(references: readonly Reference[]): readonly Reference[] {
  return references.filter(({ annotation }) => annotation === undefined);
}
