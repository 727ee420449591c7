import { hash } from "node:crypto";
import type { Workload } from "../model/workload-shape.ts";
import { type HashKey, type HashKeys, hmac, keyWithId } from "../policy/hash-key.ts";
import type { ConfigName } from "../references/references.ts";

/** One key that the Pods of a workload read. */
export interface ViewEntry extends ConfigName {
  readonly key: string;
  /** The digest of the value; undefined if files contain the key but environment variables cannot read it. */
  readonly digest: string | undefined;
}

/** The configuration that the Pods of a workload read. The hash covers it. */
export interface ConfigView {
  /** The hash as the pod template records it: `v2:`, or `v2-` with a key id and `:`, then 64 hexadecimal digits. */
  readonly hash: string;
  /** Sorted by kind, namespace, name, key and digest, each once. */
  readonly entries: readonly ViewEntry[];
  /** The key of the hash; absent if it has none, or if the view is only remembered. */
  readonly key?: HashKey;
  /**
   * The keys, by `configKey`, of objects that exist and have none of the keys that the Pods read. The hash does not cover them. Undefined
   * if there are none.
   */
  readonly emptyObjects?: ReadonlySet<string> | undefined;
  /** The hash of tracked and untracked objects together. Undefined if it is unknown or all objects are tracked. */
  readonly fullHash?: string | undefined;
  /** The hashes of removed objects to record beside the hash; undefined if there are none. */
  readonly removed?: RemovedObjects | undefined;
  /** The versions of SecretProviderClasses to record beside the hash; undefined if the workload uses none. */
  readonly recordedClasses?: string | undefined;
}

/**
 * Returns the view of entries in any order, with any duplicates. contributing/adr/0002-hash.md defines the exact bytes. If `key` is
 * given, the hash is keyed: contributing/adr/0008-hash-key.md.
 */
export function viewOf(entries: readonly ViewEntry[], key?: HashKey): ConfigView {
  const sorted = [...entries].sort(compareEntries).filter(isFirst);
  return { hash: hashOf(sorted, key), entries: sorted, ...(key && { key }) };
}

/** Returns the id of the key of a recorded hash, undefined without a key; "foreign" if another algorithm made the hash. */
export function hashFormat(recorded: string): { readonly keyId: string | undefined } | "foreign" {
  const form = /^v2(?:-([0-9a-f]{8}))?:[0-9a-f]{64}$/.exec(recorded);
  return form === null ? "foreign" : { keyId: form[1] };
}

/** The prefix of the hashed bytes: two versions of the algorithm never hash the same bytes. */
const domain = "wave.pusher.com/config-hash v2\n";

/** Returns the hash of sorted entries without duplicates, in the form of {@link ConfigView.hash}. */
function hashOf(entries: readonly ViewEntry[], key: HashKey | undefined): string {
  let bytes = domain;
  for (const entry of entries) {
    bytes += field(entry.kind) + field(entry.namespace) + field(entry.name) + field(entry.key) + state(entry);
  }
  const buffer = Buffer.from(bytes, "latin1");
  return key === undefined ? `v2:${hash("sha256", buffer, "hex")}` : `v2-${key.id}:${hmac(key.secret, buffer)}`;
}

/** Returns a text as UTF-8 after its length (4 bytes, big-endian), one byte per character. */
function field(text: string): string {
  const length = Buffer.byteLength(text, "utf8");
  // The API allows only ASCII here, and ASCII is valid UTF-8.
  const utf8 = length === text.length ? text : Buffer.from(text, "utf8").toString("latin1");
  return String.fromCharCode(length >>> 24, (length >>> 16) & 255, (length >>> 8) & 255, length & 255) + utf8;
}

function state({ digest }: ViewEntry): string {
  return digest === undefined ? "\x00" : `\x01${digest}`;
}

/** Compares by kind, namespace, name, key and state, each by its bytes. The API allows only ASCII here. */
function compareEntries(a: ViewEntry, b: ViewEntry): number {
  return (
    compare(a.kind, b.kind) ||
    compare(a.namespace, b.namespace) ||
    compare(a.name, b.name) ||
    compare(a.key, b.key) ||
    compare(state(a), state(b))
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function isFirst(entry: ViewEntry, index: number, sorted: readonly ViewEntry[]): boolean {
  const before = sorted[index - 1];
  return before === undefined || compareEntries(before, entry) !== 0;
}

/** How the recorded hash of a workload relates to a view. */
type RecordedHash =
  /** The workload has no recorded hash. */
  | { readonly state: "none" }
  /** Another algorithm made the hash. */
  | { readonly state: "foreign" }
  /** The hash was made with a key that Wave does not have. */
  | { readonly state: "unknownKey"; readonly keyId: string }
  /** The Pods read the view. If `keyExpires`, only this process still has the key of the hash. */
  | {
      readonly state: "current";
      readonly hash: string;
      readonly keyExpires: boolean;
      /** Set if nothing has shown that the Pods read it. */
      readonly unproven?: UnprovenTimes | undefined;
    }
  /** The Pods read another configuration. */
  | { readonly state: "outdated"; readonly hash: string };

/**
 * Compares the recorded hash of a workload with a view. The recorded configuration has precedence if it belongs to the recorded
 * hash and its key is known; otherwise the recorded hash itself is compared. Each hash is recomputed with its own key. `hash`
 * is the compared hash. So a recorded configuration stays valid whichever keys return, and replicas with different keys
 * decide the same.
 */
export function readRecordedHash(
  { recordedHash, recordedConfig }: Pick<Workload, "recordedHash" | "recordedConfig">,
  view: ConfigView,
  keys: HashKeys | undefined,
): RecordedHash {
  const config = recordedConfigFor(recordedHash ?? "", recordedConfig);
  const compared = config === undefined ? undefined : compareHash(config.hash, view, keys);
  if (compared?.state === "current") return { ...compared, unproven: config?.unproven };
  if (compared?.state === "outdated") return compared;
  if (recordedHash !== undefined) return compareHash(recordedHash, view, keys);
  return compared?.state === "unknownKey" ? compared : { state: "none" };
}

/** Returns the hash that {@link readRecordedHash} compares first; undefined if the workload has none. */
export function comparedHash({
  recordedHash,
  recordedConfig,
}: Pick<Workload, "recordedHash" | "recordedConfig">): string | undefined {
  return recordedConfigFor(recordedHash ?? "", recordedConfig)?.hash ?? recordedHash;
}

/** Reports whether the Pods read other content than a hash that is in their pod template: it was recorded later, beside the hash. */
export function readsOtherContent(
  { recordedHash, recordedConfig }: Pick<Workload, "recordedHash" | "recordedConfig">,
  hash: string,
): boolean {
  if (recordedHash !== hash) return false;
  const read = recordedConfigFor(recordedHash, recordedConfig);
  return read !== undefined && read.hash !== hash;
}

/** Reports whether a recorded hash is the hash of `view`; false if its key or algorithm is unknown. */
export function matchesView(recorded: string, view: ConfigView, keys: HashKeys | undefined): boolean {
  return compareHash(recorded, view, keys).state === "current";
}

function compareHash(hash: string, view: ConfigView, keys: HashKeys | undefined): RecordedHash {
  if (hash === view.hash) return { state: "current", hash, keyExpires: false };
  const format = hashFormat(hash);
  if (format === "foreign") return { state: "foreign" };
  const { keyId } = format;
  const key = keyWithId(keys, keyId);
  if (keyId !== undefined && key === undefined) return { state: "unknownKey", keyId };
  if (hash !== hashOf(view.entries, key)) return { state: "outdated", hash };
  return { state: "current", hash, keyExpires: key !== undefined && keys?.remembered.includes(key) === true };
}

/**
 * The configuration that the Pods of a workload read, if the hash in the pod template does not show it. It is an annotation in
 * the metadata of the workload, so that a write does not replace Pods. Format: `<recorded> <hash>`, then `<full hash>` and removed objects if
 * there are any, each as `<key>=<hash>`, and `unproven=<changedAt>,<podsAt>`. Without a recorded hash the text begins with the space.
 */
export interface RecordedConfig {
  /** The hash in the pod template to which the annotation belongs, "" for no hash. With another hash there, for example after `kubectl rollout undo`, the annotation is void. */
  readonly recorded: string;
  /** The hash of the tracked configuration that the Pods read. */
  readonly hash: string;
  /** The hash of tracked and untracked configuration that the Pods read; undefined if all is tracked. */
  readonly fullHash?: string | undefined;
  /** The hashes of objects that were removed and have not returned, by `configKey`: what the Pods may still have. Undefined if there are none. */
  readonly removed?: RemovedObjects | undefined;
  /** Set if nothing showed that the Pods read this configuration when it was recorded. */
  readonly unproven?: UnprovenTimes | undefined;
}

/** Times in seconds since the epoch; 0 if unknown. */
export interface UnprovenTimes {
  /** The last change of what the Pods read. */
  readonly changedAt: number;
  /** The creation of the oldest Pod. */
  readonly podsAt: number;
}

/** Hashes of removed objects, by `configKey`. Each is the hash of a view of that object alone. */
export type RemovedObjects = ReadonlyMap<string, string>;

/** No `configKey` equals it: each has slashes. */
const unprovenField = "unproven";

/** Returns the value of the annotation. Hashes and keys contain no spaces. */
export function writeRecordedConfig({
  recorded,
  hash,
  fullHash,
  removed = new Map(),
  unproven,
}: RecordedConfig): string {
  const objects = [...removed].map(([key, each]) => `${key}=${each}`);
  const times = unproven === undefined ? [] : [`${unprovenField}=${unproven.changedAt},${unproven.podsAt}`];
  return [recorded, hash, ...(fullHash === undefined ? [] : [fullHash]), ...objects, ...times].join(" ");
}

/** Parses the annotation; returns undefined if it belongs to another recorded hash than `recorded`. */
export function recordedConfigFor(recorded: string, written: string | undefined): RecordedConfig | undefined {
  if (!written?.startsWith(`${recorded} `)) return undefined;
  const [hash = "", ...rest] = written.slice(recorded.length + 1).split(" ");
  const objects = rest.flatMap((each) => {
    const at = each.indexOf("=");
    return at === -1 ? [] : [[each.slice(0, at), each.slice(at + 1)] as const];
  });
  const fullHash = rest.find((each) => !each.includes("="));
  const removed = new Map(objects);
  const times = removed.get(unprovenField)?.split(",").map(Number);
  removed.delete(unprovenField);
  return {
    recorded,
    hash,
    fullHash,
    ...(removed.size > 0 && { removed }),
    ...(times && { unproven: { changedAt: times[0] || 0, podsAt: times[1] || 0 } }),
  };
}
