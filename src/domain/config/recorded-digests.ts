// Short digests of what a recorded hash covers, beside that hash: so a process that did not see a change names the objects and keys (ADR 22).
import { hash } from "node:crypto";
import { type HashKey, type HashKeys, hmac } from "../policy/hash-key.ts";
import { type ConfigName, configKey, type Reference } from "../references/references.ts";
import type { Change } from "./changes.ts";
import { wholeKey } from "./digest.ts";
import { type ConfigView, hashFormat, type ViewEntry } from "./hash.ts";

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

/** Digests that were recorded. */
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
  const stored = known === undefined ? [] : [known.current, known.previous, ...known.remembered];
  const key = keyId === undefined ? undefined : stored.find((each) => each?.id === keyId);
  if (keyId !== key?.id) return undefined;
  return { key, objects: pairsOf(objects), keys: keys === undefined ? undefined : pairsOf(keys) };
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
