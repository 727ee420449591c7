import { hash } from "node:crypto";
import { type HashKey, hmac } from "../policy/hash-key.ts";
import type { ConfigName } from "../references/references.ts";
import type { RemovedObjects } from "./recorded-config.ts";

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

/** Reports whether a recorded hash, made with `key` or without a key, is the hash of a view. */
export function isHashOf(recorded: string, view: ConfigView, key: HashKey | undefined): boolean {
  return recorded === view.hash || recorded === hashOf(view.entries, key);
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
