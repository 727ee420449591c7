import { hash } from "node:crypto";
import { type HashKey, hmac } from "../policy/hash-key.ts";
import type { ConfigName } from "../references/references.ts";

/** One key that the Pods of a workload see. */
export interface ViewEntry extends ConfigName {
  readonly key: string;
  /** The digest of the key's value; undefined where files show it and environment variables look for it in vain. */
  readonly digest: string | undefined;
}

/** What the Pods of a workload see: what its hash is over. */
export interface ConfigView {
  /** As the pod template would record it: `v2:`, or `v2-` with the id of a key and `:`, and 64 hexadecimal digits. */
  readonly hash: string;
  /** Sorted by kind, namespace, name, key and digest, each once. */
  readonly entries: readonly ViewEntry[];
  /** The hash of all that they see, where it is known and some of that does not count; undefined where all does. */
  readonly everything?: string | undefined;
  /** What is to be noted beside the hash of the SecretProviderClasses among them; undefined where there are none. */
  readonly classes?: string | undefined;
}

/**
 * Makes the view of entries in any order, with any duplicates; docs/adr/0002-hash.md has the exact bytes. Its hash is under
 * `key`, if there is one: docs/adr/0008-hash-key.md.
 */
export function viewOf(entries: readonly ViewEntry[], key?: HashKey): ConfigView {
  const sorted = [...entries].sort(compareEntries).filter(isFirst);
  return { hash: hashOf(sorted, key), entries: sorted };
}

/** What a recorded hash says of itself: the id of its key, undefined for one without; "foreign": not by this algorithm. */
export function formOf(recorded: string): { readonly keyId: string | undefined } | "foreign" {
  const form = /^v2(?:-([0-9a-f]{8}))?:[0-9a-f]{64}$/.exec(recorded);
  return form === null ? "foreign" : { keyId: form[1] };
}

/** Whether a recorded hash, which is under `key` or under none, is the one of a view. */
export function isHashOf(recorded: string, view: ConfigView, key: HashKey | undefined): boolean {
  return recorded === view.hash || recorded === hashOf(view.entries, key);
}

/** Two versions never hash the same bytes, whatever comes to be written after this. */
const domain = "wave.pusher.com/config-hash v2\n";

/** The hash of sorted entries without duplicates, as {@link ConfigView} has it. */
function hashOf(entries: readonly ViewEntry[], key: HashKey | undefined): string {
  let bytes = domain;
  for (const entry of entries) {
    bytes += field(entry.kind) + field(entry.namespace) + field(entry.name) + field(entry.key) + state(entry);
  }
  const buffer = Buffer.from(bytes, "latin1");
  return key === undefined ? `v2:${hash("sha256", buffer, "hex")}` : `v2-${key.id}:${hmac(key.secret, buffer)}`;
}

/** UTF-8 with its length before it, as 4 bytes, the highest first; one byte a character. */
function field(text: string): string {
  const length = Buffer.byteLength(text, "utf8");
  // What the API allows here is ASCII, which is its own UTF-8.
  const utf8 = length === text.length ? text : Buffer.from(text, "utf8").toString("latin1");
  return String.fromCharCode(length >>> 24, (length >>> 16) & 255, (length >>> 8) & 255, length & 255) + utf8;
}

function state({ digest }: ViewEntry): string {
  return digest === undefined ? "\x00" : `\x01${digest}`;
}

/** In the order of the hash: kind, namespace, name, key, state, each by its bytes. What the API allows here is ASCII. */
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
