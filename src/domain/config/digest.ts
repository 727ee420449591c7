import { hash } from "node:crypto";
import type { ConfigMap, Secret } from "kubernetes-types/core/v1.d.ts";
import type { CompatibilitySettings } from "../compatibility/settings.ts";
import { isMarked, stakaterMatch } from "../compatibility/stakater.ts";
import { type Asks, asksOf } from "../policy/config-directive.ts";
import { selectsConfig } from "../policy/filters.ts";
import { sharedWith } from "../references/annotations.ts";
import { lastWrittenAt } from "../references/field-managers.ts";
import { type LimitExceeded, limits, mostSharedWithBytes } from "../references/limits.ts";
import type { ConfigName, StoredKind } from "../references/references.ts";
import { sameJson } from "../syntax/same-json.ts";

/** A ConfigMap or Secret as the API server sends it. */
export type ConfigObject = ConfigMap | Secret;

/**
 * A ConfigMap or Secret without its values: what caches keep. Tens of thousands of these must fit, so it is flat; read
 * it with {@link digestOf} and {@link keysOf}.
 */
export interface Config extends ConfigName {
  /**
   * The namespaces that its annotation grants it to, or "*", sorted, each between two commas; undefined where it has no
   * such annotation. As one text: a list of thousands of short ones would take ten times as much.
   */
  readonly sharedWith: string | undefined;
  /** The keys of `data`, sorted, then those of `binaryData`, sorted. JSON.parse shares these strings between objects. */
  readonly keys: readonly string[];
  /** Where the keys of `binaryData` begin. */
  readonly binaryFrom: number;
  /** The SHA-256 of each value in the order of the keys, 32 bytes each, one byte a character. */
  readonly digests: string;
  /** The budget that it exceeds, itself or with all of its namespace, so that none of its keys is kept. */
  readonly limitExceeded?: Pick<LimitExceeded, "budget" | "count">;
  /**
   * When it last changed, seconds since the epoch: of what Wave looks at, where Wave saw it change, else of anything. Not
   * compared.
   */
  readonly changedAt?: number | undefined;
  /** What it says of rolls for it; undefined: nothing. */
  readonly asks?: Asks | undefined;
  /** Whether it counts for those who search for what is marked so; absent where it does not. */
  readonly matches?: true;
  /** Of a SecretProviderClass: it is known by a rotation, and not only from what a Pod mounted first. */
  readonly rotated?: boolean;
}

const digestLength = 32;

/** What of an object is looked at: environment variables see only `data`. */
export type Parts = "data" | "data and binaryData";

/**
 * The digests of an object; its values are not kept. A Secret's values are decoded first. One with more keys than the
 * budget is kept without any, at the cost of counting them. `dialects` says whose marks on it count besides Wave's.
 *
 * Throws an Error that names the object, never a value, where it is malformed.
 */
export function toConfig(kind: StoredKind, object: ConfigObject, compatibility?: CompatibilitySettings): Config {
  const config = slim(kind, object, compatibility);
  return isMarked(object.metadata?.annotations, stakaterMatch, compatibility) ? { ...config, matches: true } : config;
}

function slim(kind: StoredKind, object: ConfigObject, compatibility: CompatibilitySettings | undefined): Config {
  const { metadata = {} } = object;
  const { namespace, name, annotations } = metadata;
  if (typeof name !== "string" || typeof namespace !== "string") throw new Error(`${kind} without name or namespace`);
  const malformed = (what: string) => new Error(`${kind} "${namespace}/${name}" is malformed: ${what}`);
  const binary = "binaryData" in object ? object.binaryData : undefined;
  const about = {
    kind,
    namespace,
    name,
    sharedWith: listed(annotations?.[sharedWith]),
    changedAt: lastWrittenAt(metadata) || undefined,
    asks: selectsConfig(compatibility, kind, metadata.labels) ? asksOf(annotations, compatibility) : "unselected",
  };
  const count = countKeys(object.data) + countKeys(binary);
  if (count > limits.keysOfObject.most) {
    return withoutKeys(about, { budget: "keysOfObject", count });
  }
  const [keys, digests] = digest(object.data, kind === "Secret" ? "base64" : "utf8", "data", malformed);
  const [binaryKeys, binaryDigests] = digest(
    kind === "ConfigMap" ? binary : undefined,
    "base64",
    "binaryData",
    malformed,
  );
  return {
    kind,
    namespace,
    name,
    sharedWith: about.sharedWith,
    keys: binaryKeys.length === 0 ? keys : [...keys, ...binaryKeys],
    binaryFrom: keys.length,
    digests: digests + binaryDigests,
    changedAt: about.changedAt,
    asks: about.asks,
  };
}

/** What of an object does not depend on its data. */
type About = Pick<Config, "kind" | "namespace" | "name" | "sharedWith" | "changedAt" | "asks" | "matches">;

/** What is kept of an object beyond a budget: that it is there, with whom it is shared, and what it asks for. */
export function withoutKeys(
  { kind, namespace, name, sharedWith: grants, changedAt, asks, matches }: About,
  limitExceeded: Pick<LimitExceeded, "budget" | "count">,
): Config {
  const bare = { kind, namespace, name, sharedWith: grants, keys: [], binaryFrom: 0, digests: "", changedAt, asks };
  return { ...bare, limitExceeded, ...(matches && { matches }) };
}

/** The digest of a key's value; undefined where the object, or that part of it, has no such key. */
export function digestOf(config: Config, key: string, parts: Parts = "data and binaryData"): string | undefined {
  const { keys, binaryFrom } = config;
  const index = indexOf(keys, key, 0, binaryFrom) ?? (parts === "data" ? undefined : indexOf(keys, key, binaryFrom));
  return index === undefined ? undefined : digestAt(config, index);
}

/** The digest of the key that stands at an index of {@link Config.keys}. */
export function digestAt({ digests }: Config, index: number): string {
  return digests.slice(index * digestLength, (index + 1) * digestLength);
}

/** Where a key stands in a part of the keys that is sorted: as many steps as its length has binary digits. */
function indexOf(keys: readonly string[], key: string, from: number, to = keys.length): number | undefined {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low < to && keys[low] === key ? low : undefined;
}

/** The keys of an object, or of its `data` alone. */
export function keysOf(config: Config, parts: Parts = "data and binaryData"): readonly string[] {
  return parts === "data" ? config.keys.slice(0, config.binaryFrom) : config.keys;
}

/** Whether nothing that Wave looks at differs between two states of one object. */
export function sameConfig(a: Config, b: Config): boolean {
  return sameJson({ ...a, changedAt: 0 }, { ...b, changedAt: 0 });
}

/** Whether the object lets workloads of a namespace name it. */
export function isSharedWith(config: Config, namespace: string): boolean {
  const { sharedWith: names = "" } = config;
  return names.includes(",*,") || names.includes(`,${namespace},`);
}

/** Of a map; what is none is found out where its values are read. */
function countKeys(map: Record<string, string> | null | undefined): number {
  if (typeof map !== "object" || map === null) return 0;
  return Object.keys(map).length;
}

type Malformed = (what: string) => Error;

/** The sorted keys of a map, and the digests of their values in that order. */
function digest(
  map: Record<string, string> | null | undefined,
  encoding: "utf8" | "base64",
  field: string,
  malformed: Malformed,
): [readonly string[], string] {
  if (map === undefined || map === null) return [[], ""];
  if (typeof map !== "object" || Array.isArray(map)) throw malformed(`${field} is not a map`);
  const keys = Object.keys(map).sort();
  let digests = "";
  for (const key of keys) {
    const value: unknown = map[key];
    if (typeof value !== "string") throw malformed(`${field} has a value that is not a string, at key "${key}"`);
    // One call is faster than a Hash object; "binary" is Node's other name for latin1.
    digests += hash("sha256", encoding === "utf8" ? value : Buffer.from(value, encoding), "binary");
  }
  return [keys, flat(digests)];
}

/** V8 keeps what `+=` makes as a tree that holds on to every part; this makes it one piece. */
function flat(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}

function listed(annotation: string | undefined): string | undefined {
  if (typeof annotation !== "string") return undefined;
  if (Buffer.byteLength(annotation) > mostSharedWithBytes) return "";
  const names = annotation.split(",").map((entry) => entry.trim());
  const sorted = [...new Set(names.filter((entry) => entry !== ""))].sort();
  return sorted.length === 0 ? "" : `,${sorted.join(",")},`;
}
