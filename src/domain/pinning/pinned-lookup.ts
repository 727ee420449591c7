import { hash } from "node:crypto";
import type { ConfigMap } from "#kubernetes";
import { type Config, changedBeforeWrite, digestOf, keysOf } from "../config/digest.ts";
import { type Lookup, missingFrom } from "../config/view-of-references.ts";
import { templateEditAt, type Workload } from "../model/workload-shape.ts";
import type { Reference, StoredName } from "../references/references.ts";
import { maxNameLength } from "../syntax/names.ts";

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
  const { namespace, pinned } = workload;
  const kept = new Map<string, ReturnType<Lookup>>();
  const unusable: string[] = [];
  for (const [name, copy] of pinsIn(pinned)) {
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
  const pins = annotations.flatMap((text) => [...pinsIn(text)]);
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
  const pins = pinsIn(pinned);
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

/**
 * Reports whether another client changed the pod template so that its Pods read keys that a copy lacks. The template replaces the Pods already,
 * so a rollout to the live content has nothing to wait for: a webhook would write it in the request of the client. A ConfigMap that changed
 * after the template is a change of its own. An edit outside of the pod template replaces no Pods. Only a watch shows which of the two it was.
 */
export function hasOutgrownPins(workload: Workload, live: Lookup): boolean {
  const { namespace, pinned, templateWrite, rolledAt } = workload;
  // Wave may write a template just after an edit that it has not seen. Its next rollout waits.
  if (templateWrite === undefined || templateEditAt(workload) < rolledAt) return false;
  return [...pinsIn(pinned)].some(([name, copyName]) => {
    const source = live("ConfigMap", namespace, name);
    const copy = live("ConfigMap", namespace, copyName);
    if (copy?.isCopy !== true || source === undefined || !changedBeforeWrite(source, templateWrite)) return false;
    return ofPodSpec(referencesTo(workload, name)).some((reference) => {
      const { data, binaryData } = copyContent([reference], source);
      // A file shows a key of either field.
      return reference.reads === "env"
        ? data.some((key) => digestOf(copy, key, "data") === undefined)
        : [...data, ...binaryData].some((key) => digestOf(copy, key) === undefined);
    });
  });
}

/** The copies that Pods read, by the name of the ConfigMap that the pod spec references. */
export type Pins = ReadonlyMap<string, string>;

/** Limit of the annotation, in characters. A longer one is not read. */
export const maxPinnedLength = 16_384;

const labels = "[a-z0-9]+(?:-+[a-z0-9]+)*";
const subdomain = `${labels}(?:[.]${labels})*`;

/** The form of one pin, `source=copy`: a regular expression that is the same in JavaScript and in the policy of the chart. */
export const pinPattern = `${subdomain}=${subdomain}-(?:[0-9a-f]{10}|[0-9a-f]{20})`;

const pinForm = new RegExp(`^${pinPattern}$`);

/**
 * Parses the annotation of the pins; undefined if any part is malformed, so that Pods are never pinned in part. Each copy has the name
 * of its source and digits, and is not itself a source, so that a Pod that is pointed twice is the same as one that is pointed once.
 */
export function parsePins(text: string): Pins | undefined {
  if (text.length > maxPinnedLength) return undefined;
  const pins = new Map<string, string>();
  for (const pin of text.split(",")) {
    const [source = "", copy = ""] = pin.split("=", 2);
    if (pins.has(source) || !isPin(pin, source, copy)) return undefined;
    pins.set(source, copy);
  }
  return pins.values().some((copy) => pins.has(copy)) ? undefined : pins;
}

/** Returns the pins of an annotation; none if it is absent or malformed. */
export function pinsIn(text: string | undefined): Pins {
  return (text !== undefined && parsePins(text)) || new Map();
}

/** Returns the text of the annotation, sorted; "" if nothing is pinned. */
export function formatPins(pins: Pins): string {
  return Array.from(pins, ([source, copy]) => `${source}=${copy}`)
    .sort()
    .join(",");
}

function isPin(pin: string, source: string, copy: string): boolean {
  if (source.length > maxNameLength || copy.length > maxNameLength) return false;
  // The name of a long source is cut to make room for the digits.
  return source.startsWith(copy.slice(0, copy.lastIndexOf("-"))) && pinForm.test(pin);
}

/** What a pinned copy of a ConfigMap contains: the keys that Pods read, and the keys that they need to start. */
export interface CopyContent {
  /** The sorted keys of `data`. */
  readonly data: readonly string[];
  /** The sorted keys of `binaryData`. */
  readonly binaryData: readonly string[];
  /** SHA-256 over these keys and the digests of their values: 64 hexadecimal digits. */
  readonly digest: string;
}

/** Returns what a pinned copy of `config` contains for these references to it. Keys that do not exist are left out. */
export function copyContent(
  references: readonly Pick<Reference, "reads" | "keys">[],
  config: Config | undefined,
): CopyContent {
  if (config === undefined) return { data: [], binaryData: [], digest: digestOfLines([]) };
  const wanted = new Set<string>();
  const envOnly = new Set<string>();
  for (const { reads, keys } of references) {
    if (keys !== "all") for (const key of keys) wanted.add(key);
    else if (reads === "env") for (const key of keysOf(config, "data")) envOnly.add(key);
    else if (reads === "files") for (const key of keysOf(config)) wanted.add(key);
  }
  const data = keysOf(config, "data").filter((key) => wanted.has(key) || envOnly.has(key));
  const binaryData = config.keys.slice(config.binaryFrom).filter((key) => wanted.has(key));
  return { data, binaryData, digest: contentDigest(config, data, binaryData) };
}

/** Returns the content of a whole object, such as a pinned copy that is to be verified. */
export function wholeContent(config: Config): CopyContent {
  return copyContent([{ reads: "files", keys: "all" }], config);
}

/** Returns the fields of `source` that a copy with this content has. */
export function copyData(source: ConfigMap | undefined, content: CopyContent): Pick<ConfigMap, "data" | "binaryData"> {
  const pick = (keys: readonly string[], values: Record<string, string> | null | undefined) =>
    Object.fromEntries(keys.map((key) => [key, values?.[key] ?? ""]));
  return {
    ...(content.data.length > 0 && { data: pick(content.data, source?.data) }),
    ...(content.binaryData.length > 0 && { binaryData: pick(content.binaryData, source?.binaryData) }),
  };
}

/** Returns the name of the copy of `source` with this content. 20 digits are for a name with 10 that is taken. */
export function copyName(source: string, { digest }: Pick<CopyContent, "digest">, digits: 10 | 20): string {
  // A name must not contain ".-".
  const prefix = source.slice(0, maxNameLength - digits - 1).replace(/[.-]+$/, "");
  return `${prefix}-${digest.slice(0, digits)}`;
}

/** Reports whether an object has the name of a copy with its content. Anyone may write the label of copies, but not such a name by chance. */
export function isNamedByContent(config: Config): boolean {
  const { digest } = wholeContent(config);
  return [10, 20].some((digits) => config.name.endsWith(`-${digest.slice(0, digits)}`));
}

function contentDigest(config: Config, data: readonly string[], binaryData: readonly string[]): string {
  const line = (part: "data" | "binaryData") => (key: string) => {
    const digest = part === "data" ? digestOf(config, key, "data") : digestOf(config, key);
    return `${part} ${key} ${Buffer.from(digest ?? "", "latin1").toString("hex")}\n`;
  };
  const lines = [...data.map(line("data")), ...binaryData.map(line("binaryData"))];
  return digestOfLines(lines);
}

function digestOfLines(lines: readonly string[]): string {
  return hash("sha256", `wave.pusher.com/pinned-copy v1\n${lines.join("")}`, "hex");
}
