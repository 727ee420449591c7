import { hash } from "node:crypto";
import { type Lookup, viewOfReferences } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { Rules } from "../policy/rules.ts";
import { parseConfigKey } from "../references/references.ts";
import { readAsCopy } from "./pin-request.ts";
import { type PinnedLookup, pinnedLookup, pinsIn, referencesTo } from "./pinned-lookup.ts";

/** Returns the lookup of what new Pods are to read: a ConfigMap whose live content is rejected is read as its pinned copy. */
export function withRejected(workload: Workload, lookup: Lookup, rules: Rules): PinnedLookup {
  const rejected = parseRejected(workload.rejected);
  const canBeRead = readAsCopy(workload, lookup, rules);
  const found = pinnedLookup(workload, lookup, (name) => {
    const digest = rejected.get(name);
    return digest !== undefined && canBeRead(name) && digest === rejectionDigest(workload, lookup, name);
  });
  // The copy may have the rejected content: the workload was rolled to it while it was not pinned.
  const differs = (name: string) => rejectionDigest(workload, found.lookup, name) !== rejected.get(name);
  return { ...found, kept: new Set([...found.kept].filter(differs)) };
}

/**
 * Reports whether a workload rejects the live content of the object with this key, so that its Pods read the copy of other content. The copy
 * may be unknown here.
 */
export function rejectsLive(workload: Workload, lookup: Lookup, key: string): boolean {
  if (workload.rejected === undefined || workload.pinned === undefined) return false;
  const { kind, namespace, name } = parseConfigKey(key);
  if (kind !== "ConfigMap" || namespace !== workload.namespace) return false;
  const digest = parseRejected(workload.rejected).get(name);
  if (digest === undefined || digest !== rejectionDigest(workload, lookup, name)) return false;
  const copies = pinnedLookup(workload, lookup, (each) => each === name);
  return copies.kept.size === 0 || rejectionDigest(workload, copies.lookup, name) !== digest;
}

/** Returns the annotation after a rollout: a rejection ends when other content of the ConfigMap is rolled. */
export function stillRejected(workload: Workload, lookup: Lookup): string | undefined {
  const stays = ([name, digest]: readonly [string, string]) =>
    digest === rejectionDigest(workload, lookup, name) || readsLive(workload, lookup, name);
  return formatRejected(new Map([...parseRejected(workload.rejected)].filter(stays)));
}

/** Reports whether the copy that the pod template names has the live content, so that a rollout brings no other content into Pods. */
function readsLive(workload: Workload, lookup: Lookup, name: string): boolean {
  const pinned = pinnedLookup(workload, lookup, (each) => each === name).lookup;
  return rejectionDigest(workload, pinned, name) === rejectionDigest(workload, lookup, name);
}

/** What a new pod template rejects of what the one before rejected. */
interface CarriedRejections {
  /** The annotation for the new pod template. */
  readonly rejected: string | undefined;
  /** The rejected ConfigMaps that are read live, because their copies lack something that the new pod template reads. */
  readonly unusable: readonly string[];
}

/**
 * Returns what stays rejected of these annotations with a new pod template. It may read other keys, by which the same live content has another
 * digest. What is no longer live is left out if the request rolls the live content of the ConfigMap (`rollsLive`): it replaces Pods, and no hold applies.
 */
export function carriedRejections(
  workload: Workload,
  annotations: readonly (string | undefined)[],
  before: Workload,
  live: Lookup,
  rollsLive: (name: string) => boolean,
): CarriedRejections {
  const rejected = annotations.flatMap((text) => [...parseRejected(text)]);
  const still = new Map(rejected.filter(([name, digest]) => digest === rejectionDigest(before, live, name)));
  const { unusable } = pinnedLookup(workload, live, (name) => still.has(name), before);
  const isRead = (name: string) => referencesTo(workload, name).length > 0;
  const carried = [...still.keys()].filter((name) => !unusable.includes(name) && isRead(name));
  const isWaiting = (name: string) =>
    !still.has(name) && isRead(name) && (!rollsLive(name) || readsLive(before, live, name));
  const waiting = rejected.filter(([name]) => isWaiting(name));
  const digests = carried.map((name) => [name, rejectionDigest(workload, live, name)] as const);
  return { rejected: formatRejected(new Map([...waiting, ...digests])), unusable };
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

/** An undo: the pod template names the copies of an earlier revision again. */
export interface Undo {
  /** The annotation of rejected content after the undo. */
  readonly rejected: string | undefined;
  /** The ConfigMaps whose live content is rejected, sorted. */
  readonly names: readonly string[];
  /** Finds what the Pods of the earlier revision read. */
  readonly lookup: Lookup;
}

/** What a workload had, and read, before an undo. */
type BeforeUndo = Pick<Workload, "pinned" | "rejected" | "references">;

/**
 * Returns what an undo rejects. `workload` names other copies than before, all of them exist, and the live content of at least one of
 * these ConfigMaps differs from its copy. Undefined if it is no undo: for example a reinvocation, in which nothing differs. What was rejected
 * before and still is live stays rejected, also if the undo removed its annotation. A ConfigMap that is read live now is not undone.
 */
export function undoOf(workload: Workload, beforeUndo: BeforeUndo, live: Lookup, rules: Rules): Undo | undefined {
  if (workload.pinned === undefined || workload.pinned === beforeUndo.pinned) return undefined;
  const { lookup, kept, unusable } = pinnedLookup(workload, live, readAsCopy(workload, live, rules));
  if (unusable.length > 0) return undefined;
  const pins = pinsIn(workload.pinned);
  const before = pinsIn(beforeUndo.pinned);
  // The digest of the same content depends on what the pod template reads.
  const wasRejected = (name: string) =>
    [workload, { ...workload, ...beforeUndo }].some(
      (each) => parseRejected(each.rejected).get(name) === rejectionDigest(each, live, name),
    );
  const rejected = new Map<string, string>();
  const names: string[] = [];
  for (const name of kept) {
    const digest = rejectionDigest(workload, live, name);
    if (digest === rejectionDigest(workload, lookup, name)) continue;
    const isReturned = pins.get(name) !== before.get(name);
    if (isReturned) names.push(name);
    if (isReturned || wasRejected(name)) rejected.set(name, digest);
  }
  return names.length === 0 ? undefined : { rejected: formatRejected(rejected), names: names.sort(), lookup };
}

/**
 * Returns the undo that a controller sees without webhooks: the Pods had other pins when it last saw the workload, and the live content is
 * still the content of the copies that they had, as far as they read it. An edit that followed is a new change, which is not rejected.
 */
export function undoSince(workload: Workload, beforeUndo: BeforeUndo, live: Lookup, rules: Rules): Undo | undefined {
  const undo = undoOf(workload, beforeUndo, live, rules);
  if (undo === undefined) return undefined;
  const before = { ...workload, ...beforeUndo };
  const copies = pinnedLookup(before, live, () => true).lookup;
  const wasRolled = (name: string) => rejectionDigest(before, live, name) === rejectionDigest(before, copies, name);
  return undo.names.every(wasRolled) ? undo : undefined;
}
