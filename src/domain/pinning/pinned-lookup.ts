import { hash } from "node:crypto";
import { type Lookup, missingFrom, viewOfReferences } from "../config/view.ts";
import type { Workload } from "../model/workload.ts";
import type { Policy } from "../policy/policy.ts";
import type { Reference, StoredName } from "../references/references.ts";
import type { Warning } from "../references/warning.ts";
import { formatList, quoted } from "../syntax/wording.ts";
import { copyCovers } from "./copy-covers.ts";
import { readAsCopy } from "./pin-request.ts";
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
      (before !== workload && !copyCovers(stored, referencesTo(before, name), references))
    ) {
      unusable.push(name);
    } else {
      const { isCopy: _, ...content } = stored;
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

/** Returns the warning about rejected content whose copies cannot be used. */
export function unusableCopies(names: readonly string[]): Warning {
  const configMaps = names.length === 1 ? "ConfigMap" : "ConfigMaps";
  const copy =
    names.length === 1 ? "Its pinned copy is gone or lacks a key" : "Their pinned copies are gone or lack a key";
  return {
    reason: "Unpinned",
    message: `New Pods read live configuration of ${configMaps} ${formatList(names, 3, quoted)}. ${copy} that the pod template reads.`,
  };
}

/** Returns the warning about ConfigMaps whose live content was rolled back. */
export function rolledBack(names: readonly string[]): Warning {
  const configMaps = names.length === 1 ? "ConfigMap" : "ConfigMaps";
  return {
    reason: "RolledBack",
    message: `Rolled back: Pods read the earlier content of ${configMaps} ${formatList(names, 3, quoted)}. Wave does not roll to the live content until it changes, or until you run wave resume.`,
  };
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

/** Returns the references of the pod spec of a workload to a ConfigMap of its namespace. */
function referencesTo({ references, namespace }: Workload, name: string): readonly Reference[] {
  return references.filter(
    (each) =>
      each.kind === "ConfigMap" && each.name === name && each.namespace === namespace && each.annotation === undefined,
  );
}

/** Returns the lookup of a workload that rejects nothing. */
export function nothingRejected(lookup: Lookup): PinnedLookup {
  return { lookup, kept: new Set(), unusable: [] };
}

/** Returns the lookup of what new Pods are to read: a ConfigMap whose live content is rejected is read as its pinned copy. */
export function withRejected(workload: Workload, lookup: Lookup, policy: Policy): PinnedLookup {
  const rejected = parseRejected(workload.rejected);
  const canBeRead = readAsCopy(workload, lookup, policy);
  const found = pinnedLookup(workload, lookup, (name) => {
    const digest = rejected.get(name);
    return digest !== undefined && canBeRead(name) && digest === rejectionDigest(workload, lookup, name);
  });
  // The copy may have the rejected content: the workload was rolled to it while it was not pinned.
  const differs = (name: string) => rejectionDigest(workload, found.lookup, name) !== rejected.get(name);
  return { ...found, kept: new Set([...found.kept].filter(differs)) };
}

/** Returns the annotation without content that is no longer live. */
export function stillRejected(workload: Workload, lookup: Lookup): string | undefined {
  const rejected = [...parseRejected(workload.rejected)];
  return formatRejected(
    new Map(rejected.filter(([name, digest]) => digest === rejectionDigest(workload, lookup, name))),
  );
}

/** What a new pod template rejects of what the one before rejected. */
export interface CarriedRejections {
  /** The annotation for the new pod template. */
  readonly rejected: string | undefined;
  /** The rejected ConfigMaps that are read live, because their copies lack something that the new pod template reads. */
  readonly unusable: readonly string[];
}

/**
 * Returns what stays rejected of these annotations with a new pod template. It may read other keys, by which the same live content has another
 * digest. What is no longer live is left out, except while a hold applies (`isHeld`): then no other content has been rolled.
 */
export function carriedRejections(
  workload: Workload,
  annotations: readonly (string | undefined)[],
  before: Workload,
  live: Lookup,
  isHeld: boolean,
): CarriedRejections {
  const rejected = annotations.flatMap((text) => [...parseRejected(text)]);
  const still = new Map(rejected.filter(([name, digest]) => digest === rejectionDigest(before, live, name)));
  const { unusable } = pinnedLookup(workload, live, (name) => still.has(name), before);
  const carried = [...still.keys()].filter(
    (name) => !unusable.includes(name) && referencesTo(workload, name).length > 0,
  );
  const waiting = isHeld
    ? rejected.filter(([name]) => !still.has(name) && referencesTo(workload, name).length > 0)
    : [];
  return {
    rejected: formatRejected(
      new Map([...waiting, ...carried.map((name) => [name, rejectionDigest(workload, live, name)] as const)]),
    ),
    unusable,
  };
}

/**
 * Returns what identifies the live content of a ConfigMap in the annotation of rejected content: the first 16 hexadecimal digits of a SHA-256
 * over what the hash of this workload includes of it.
 */
export function rejectionDigest(workload: Workload, lookup: Lookup, name: string): string {
  const { entries } = viewOfReferences(referencesTo(workload, name), lookup);
  const lines = entries.map(({ key, digest }) => `${key} ${Buffer.from(digest ?? "", "latin1").toString("hex")}\n`);
  return hash("sha256", `wave.pusher.com/rejected v1\n${lines.join("")}`, "hex").slice(0, 16);
}

/** Parses the annotation of rejected content: `name=digest`, separated by commas. Ignores what is not of this form. */
export function parseRejected(text: string | undefined): ReadonlyMap<string, string> {
  const pairs = (text ?? "").split(",").flatMap((entry) => {
    const form = /^([^=]+)=([0-9a-f]{16})$/.exec(entry.trim());
    return form === null ? [] : [[form[1] ?? "", form[2] ?? ""] as const];
  });
  return new Map(pairs);
}

/** Returns the text of the annotation of rejected content, sorted; undefined if nothing is rejected. */
export function formatRejected(rejected: ReadonlyMap<string, string>): string | undefined {
  const entries = Array.from(rejected, ([name, digest]) => `${name}=${digest}`).sort();
  return entries.length === 0 ? undefined : entries.join(",");
}
