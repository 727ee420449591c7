import { hash } from "node:crypto";
import type { ConfigName } from "./references.ts";

/** One thing that the Pods of a workload see, or see to be absent. */
export interface ViewEntry extends ConfigName {
  /** The key; "" stands for the object itself where all its keys are read. No key of the API is empty. */
  readonly key: string;
  /** The digest of the key's value, "" for an object that is present, undefined for what is absent. */
  readonly digest: string | undefined;
}

/** What the Pods of a workload see: what its hash is over. */
export interface ConfigView {
  /** `v2:` and 64 hexadecimal digits, as the pod template records it. */
  readonly hash: string;
  /** Sorted by kind, namespace, name, key and digest, each once. */
  readonly entries: readonly ViewEntry[];
}

/** What a hash of this algorithm begins with. */
export const hashTag = "v2:";

/** Makes the view of entries in any order, with any duplicates; docs/adr/0002-hash.md has the exact bytes. */
export function viewOf(entries: readonly ViewEntry[]): ConfigView {
  const sorted = [...entries].sort(compareEntries).filter(isFirst);
  return { hash: hashView(sorted), entries: sorted };
}

/** Whether a hash was made by this algorithm. */
export function isOurHash(recorded: string): boolean {
  return /^v2:[0-9a-f]{64}$/.test(recorded);
}

/** Two versions never hash the same bytes, whatever comes to be written after this. */
const domain = "wave.pusher.com/config-hash v2\n";

/** The hash of sorted entries without duplicates: `v2:` and 64 hexadecimal digits. */
function hashView(entries: readonly ViewEntry[]): string {
  let bytes = domain;
  for (const entry of entries) {
    bytes += field(entry.kind) + field(entry.namespace) + field(entry.name) + field(entry.key) + state(entry);
  }
  return hashTag + hash("sha256", Buffer.from(bytes, "latin1"), "hex");
}

/** UTF-8 with its length before it, as 4 bytes, the highest first; one byte a character. */
function field(text: string): string {
  const length = Buffer.byteLength(text, "utf8");
  // What the API allows here is ASCII, which is its own UTF-8.
  const utf8 = length === text.length ? text : Buffer.from(text, "utf8").toString("latin1");
  return String.fromCharCode(length >>> 24, (length >>> 16) & 255, (length >>> 8) & 255, length & 255) + utf8;
}

function state({ digest }: ViewEntry): string {
  if (digest === undefined) return "\x00";
  return digest === "" ? "\x02" : `\x01${digest}`;
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
