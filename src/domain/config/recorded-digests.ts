// Short digests of what a recorded hash covers, beside that hash: so a process that did not see a change names the objects and keys (ADR 22).
import { hash } from "node:crypto";
import type { Workload } from "../model/workload-shape.ts";
import { type HashKey, type HashKeys, hmac, keyWithId } from "../policy/hash-key.ts";
import { type ConfigName, configKey, type Reference } from "../references/references.ts";
import { type Config, wholeKey } from "./digest.ts";
import { type ConfigView, hashFormat, type ViewEntry } from "./hash.ts";
import type { Change, Lookup } from "./view-of-references.ts";

/** The most characters of the annotation. */
const maxLength = 2_048;

/** The characters at the end of a hash that the annotation repeats. With another recorded hash, the annotation is void. */
const hashLength = 16;

/** The characters of one digest in base64url: 24 bits. */
const shortLength = 4;

/** The most objects and keys that fit. */
const maxPairs = Math.floor((maxLength - hashLength - 2) / (2 * shortLength));

/** The prefix of the digested bytes: they are never those of a hash. */
const domain = "wave.pusher.com/config-digests\n";

/** Digests of contents, by the digest of the name. */
type Digests = ReadonlyMap<string, string>;

interface RecordedDigests {
  readonly key: HashKey | undefined;
  readonly objects: Digests;
  /** Undefined if they did not fit. */
  readonly keys: Digests | undefined;
}

/**
 * Returns the annotation for the hash of a view: the end of the hash, the objects, and the keys if they fit. An object or key is a digest of
 * its name and one of its content. So the annotation has no names that a forged one could add to a reason. A digest of a Secret needs a hash key,
 * because with one for each key, a reader could guess values one by one. Returns undefined if the objects do not fit, or if their key is not known.
 */
export function writeDigests({ hash: of, entries, emptyObjects, key }: ConfigView): string | undefined {
  const format = hashFormat(of);
  if (format === "foreign" || format.keyId !== key?.id) return undefined;
  const objects = new Map<string, readonly ViewEntry[]>(Array.from(emptyObjects ?? [], (name) => [name, []]));
  for (const [name, own] of Map.groupBy(entries, configKey)) objects.set(name, own);
  const covered = [...objects].filter(([name]) => isCovered(name, key));
  if (covered.length > maxPairs) return undefined;
  const keys = covered.flatMap(([name, own]) => [...byKey(own)].map(([each, states]) => [name, each, states] as const));
  const written = covered.map(([name, own]) => short(key, name) + contentOf(key, name, own));
  const end = `${of.slice(-hashLength)} ${written.join("")}`;
  if (covered.length + keys.length > maxPairs) return end;
  return `${end} ${keys.map(([name, each, own]) => short(key, name, each) + contentOf(key, name, own)).join("")}`;
}

/** Returns the digests that were recorded for a hash; undefined if there are none, or if Wave does not have the key of the hash. */
export function readDigests(
  written: string | undefined,
  of: string | undefined,
  known: HashKeys | undefined,
): RecordedDigests | undefined {
  if (written === undefined || written.length > maxLength || of === undefined) return undefined;
  const [end, objects, keys] = written.split(" ");
  const format = hashFormat(of);
  if (end !== of.slice(-hashLength) || objects === undefined || format === "foreign") return undefined;
  const { keyId } = format;
  const key = keyWithId(known, keyId);
  if (keyId !== key?.id) return undefined;
  return { key, objects: pairsOf(objects), keys: keys === undefined ? undefined : pairsOf(keys) };
}

/** Reports whether an object is among those whose digests were recorded. */
export function isRecorded({ key, objects }: RecordedDigests, object: string): boolean {
  return objects.has(short(key, object));
}

/**
 * Returns a function that finds how an object differs from its recorded digests; undefined if that is not known, as for a Secret without
 * digests. All names are those of the view and of the references, so a removed key is named only if a reference names it.
 */
export function changesSince(
  recorded: RecordedDigests,
  { entries, emptyObjects, removed }: ConfigView,
  references: readonly Reference[],
): (object: ConfigName) => readonly Change[] | undefined {
  const { key, objects } = recorded;
  const present = Map.groupBy(entries, configKey);
  const named = Map.groupBy(references, configKey);
  return ({ kind, namespace, name }) => {
    const object = { kind, namespace, name };
    const id = configKey(object);
    if (!isCovered(id, key)) return undefined;
    const [before, own = []] = [objects.get(short(key, id)), present.get(id)];
    if (own.length === 0) {
      const nothing = contentOf(key, id, []);
      if (before === undefined || before === nothing) return [];
      if (emptyObjects?.has(id) !== true) return [{ ...object, how: "removed", keys: [] }];
    }
    // An object that returns with other content has changed.
    if (before === undefined) return [{ ...object, how: removed?.has(id) ? "changed" : "added", keys: [] }];
    if (before === contentOf(key, id, own)) return [];
    const wanted = (named.get(id) ?? []).flatMap(({ keys }) => (keys === "all" ? [] : keys));
    return [{ ...object, how: "changed", keys: changedKeys(recorded, id, own, wanted) }];
  };
}

/** Returns the keys of an object that differ from their digests, sorted; none if they are not known. */
function changedKeys(
  { key, keys }: RecordedDigests,
  object: string,
  entries: readonly ViewEntry[],
  named: readonly string[],
): readonly string[] {
  const current = byKey(entries);
  if (keys === undefined || current.has(wholeKey) || current.size > maxPairs) return [];
  const names = [...new Set([...current.keys(), ...named])].sort();
  return names.filter((name) => {
    const own = current.get(name);
    return keys.get(short(key, object, name)) !== (own && contentOf(key, object, own));
  });
}

/** Without a hash key, a digest for each Secret would let a reader of the workload guess its values one by one. */
function isCovered(object: string, key: HashKey | undefined): boolean {
  return key !== undefined || !object.startsWith("Secret/");
}

/** A key has two entries if files show it and environment variables cannot read it. */
function byKey(entries: readonly ViewEntry[]): ReadonlyMap<string, readonly ViewEntry[]> {
  return Map.groupBy(entries, ({ key }) => key);
}

function contentOf(key: HashKey | undefined, object: string, entries: readonly ViewEntry[]): string {
  return short(key, object, ...entries.flatMap((entry) => [entry.key, entry.digest ?? ""]));
}

/** Returns the first bits of a digest of texts. */
function short(key: HashKey | undefined, ...texts: readonly string[]): string {
  const message = domain + JSON.stringify(texts);
  const hex = key === undefined ? hash("sha256", message) : hmac(key.secret, message);
  return Buffer.from(hex, "hex").toString("base64url").slice(0, shortLength);
}

function pairsOf(text: string): Digests {
  const pairs = text.match(/.{8}/g) ?? [];
  return new Map(pairs.map((pair) => [pair.slice(0, shortLength), pair.slice(shortLength)]));
}

/** The key under which the versions of all fetched objects of a SecretProviderClass are hashed. */
export const versionsKey = "versions";

/** Returns a SecretProviderClass as a configuration object with one key: the digest of all its versions. */
export function classConfig(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { digest, since, rotated }: { readonly digest: string; readonly since: number; readonly rotated: boolean },
): Config {
  return {
    kind: "SecretProviderClass",
    namespace,
    name,
    sharedWith: undefined,
    keys,
    binaryFrom: keys.length,
    digests: digest,
    changedAt: since,
    ...(rotated && { rotated }),
  };
}

/** One list that all SecretProviderClasses share, to save memory. */
const keys: readonly string[] = [versionsKey];

/** The versions of SecretProviderClasses that are tracked for a workload. */
export interface RecordedClasses {
  /** Finds a SecretProviderClass in its tracked version, and all other objects as they are known. */
  readonly lookup: Lookup;
  /** Reports whether an entry is of a SecretProviderClass without a recorded version. */
  readonly isUnrecorded: (entry: Pick<ViewEntry, "kind" | "name">) => boolean;
  /** Returns the recorded versions of SecretProviderClasses that are no longer in the references, as entries of the hash. */
  readonly dropped: (references: readonly Reference[]) => readonly ViewEntry[];
  /** Returns the text to record with the hash of these references; undefined if they contain no SecretProviderClass. */
  readonly toRecord: (references: readonly Reference[]) => string | undefined;
}

/**
 * Returns the versions of SecretProviderClasses that are tracked for a workload. The version that is recorded on the workload is
 * tracked until a later rotation is known. So the hash does not depend on which Pods exist, what a new Pod fetched, or how
 * stale a watch is. A class without a recorded version is tracked in its known version. A class without a known version is
 * not tracked.
 */
export function recordedClassesOf({ namespace, recordedClasses: written }: Workload, known: Lookup): RecordedClasses {
  const recorded = new Map(read(written).map((config) => [config.name, { ...config, namespace }]));
  const lookup: Lookup = (kind, of, name) => {
    const now = known(kind, of, name);
    if (kind !== "SecretProviderClass" || of !== namespace) return now;
    const before = recorded.get(name);
    if (before === undefined || now === undefined) return now ?? before;
    const isLater = now.rotated === true && (now.changedAt ?? 0) >= (before.changedAt ?? 0);
    return isLater ? now : before;
  };
  return {
    lookup,
    isUnrecorded: ({ kind, name }) => kind === "SecretProviderClass" && !recorded.has(name),
    dropped: (references) => {
      if (recorded.size === 0) return [];
      const left = new Set(classesAmong(references).map(({ name }) => name));
      const gone = [...recorded.values()].filter(({ name }) => !left.has(name));
      return gone.map(({ kind, name, digests: digest }) => ({ kind, namespace, name, key: versionsKey, digest }));
    },
    toRecord: (references) => {
      const found = classesAmong(references).flatMap(({ kind, name }) => lookup(kind, namespace, name) ?? []);
      if (found.length === 0) return undefined;
      const texts = new Set(found.map(write));
      return [...texts].sort().join(",");
    },
  };
}

function classesAmong(references: readonly Reference[]): readonly Reference[] {
  return references.filter(({ kind }) => kind === "SecretProviderClass");
}

/** Returns `name seconds digest`. Names contain no spaces and no commas. */
function write({ name, changedAt = 0, digests }: Config): string {
  return `${name} ${changedAt} ${Buffer.from(digests, "latin1").toString("hex")}`;
}

/** Parses a recorded text. Parts in another format were not written by Wave and are ignored. */
function read(written = ""): readonly Config[] {
  return written.split(",").flatMap((text) => {
    const [, name = "", since, hex = ""] = /^(\S+) (\d{1,12}) ([0-9a-f]{64})$/.exec(text) ?? [];
    if (name === "") return [];
    const digest = Buffer.from(hex, "hex").toString("latin1");
    return [classConfig({ namespace: "", name }, { digest, since: Number(since), rotated: false })];
  });
}
