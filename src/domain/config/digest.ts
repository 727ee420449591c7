// What a workload reads: digests of objects, views, hashes of views, and what a recorded hash means. Pure: no I/O, clock or logger.
import { hash } from "node:crypto";
import type { ConfigMap, Secret } from "#kubernetes";
import type { CompatibilitySettings } from "../compatibility/directive.ts";
import { isMarked, stakaterMatch } from "../compatibility/stakater.ts";
import { type ConfigDirective, misusesOf, readConfigDirective, readHoldReason } from "../policy/annotation-mistakes.ts";
import { selectsConfig } from "../policy/policy.ts";
import { pinnedCopyLabel, sharedWith } from "../references/annotations.ts";
import { contentEditedAt, contentEditedBy, contentEditedKey, lastWrittenAt } from "../references/field-managers.ts";
import {
  type ConfigName,
  type LimitExceeded,
  limits,
  maxSharedWithBytes,
  parsedKeys,
  type StoredKind,
} from "../references/references.ts";
import { equalJson } from "../syntax/json.ts";

/** A ConfigMap or Secret as the API server sends it, with values, or with a {@link DigestedValue} in place of each value. */
export type ConfigObject = ConfigMap | Secret;

/** A value that was digested before its object was parsed. */
interface DigestedValue {
  /** One byte per character. */
  readonly sha256: string;
  /** The length of the text of the value in UTF-8. */
  readonly bytes: number;
}

/**
 * A ConfigMap or Secret with digests in place of its values, as the caches store it. It is flat, because tens of thousands
 * must fit in memory. Read it with {@link digestOf} and {@link keysOf}.
 */
export interface Config extends ConfigName {
  /**
   * The namespaces that may read the object, by its annotation, or "*": sorted, each between two commas. Undefined without
   * the annotation. One string, because a list of thousands of short strings would take ten times the memory.
   */
  readonly sharedWith: string | undefined;
  /** The sorted keys of `data`, then the sorted keys of `binaryData`. JSON.parse shares these strings between objects. */
  readonly keys: readonly string[];
  /** The index of the first key of `binaryData`. */
  readonly binaryFrom: number;
  /** The SHA-256 digests of the values in the order of the keys: 32 bytes each, one byte per character. */
  readonly digests: string;
  /**
   * The limit that the object, or its namespace with it, exceeds. Then the caches keep none of its keys. An object with too many
   * keys has one key, {@link wholeKey}, with a digest of all its data.
   */
  readonly limitExceeded?: Pick<LimitExceeded, "limit" | "count" | "max">;
  /** The time of the last change, seconds since the epoch. If Wave saw the change: of the content. Otherwise: of any field. */
  readonly changedAt?: number | undefined;
  /** When its content was last edited after its creation, seconds since the epoch; undefined if it never was, or if that is not known. */
  readonly editedAt?: number | undefined;
  /** The field manager that edited its content last; undefined if that is not known. */
  readonly editedBy?: string | undefined;
  /** The key that the last edit changed, as {@link contentEditedKey} returns it; absent if that is not known. */
  readonly editedKey?: ReturnType<typeof contentEditedKey>;
  /**
   * The resourceVersion of the object when it had this content: its last change is not later. Undefined if the cache had it from its first
   * list.
   */
  readonly revision?: number | undefined;
  /** Since when the object was absent before it was created with this content, in monotonic milliseconds; absent if no watch has shown both. */
  readonly wasAbsentSince?: number;
  /** True if the API may have no time of its last change, because its field manager was forgotten; otherwise absent. */
  readonly isUntimed?: true;
  /** What the annotations of the object say about rollouts for it; undefined: nothing. */
  readonly directive?: ConfigDirective | undefined;
  /** Who holds changes of the object, and why; absent if no person holds them, or without a reason. */
  readonly holdReason?: string;
  /** A message about annotations and labels that have no effect on the object; absent if there are none. */
  readonly misused?: string;
  /** True if the object is marked for workloads that search for marked objects; otherwise absent. */
  readonly isMarked?: true;
  /** True for an immutable ConfigMap with the label of pinned copies; otherwise absent. Its content cannot change. */
  readonly isCopy?: true;
  /** The size of the content of a pinned copy, in bytes; otherwise absent. */
  readonly copyBytes?: number;
  /** True for a ConfigMap whose content another controller injects, such as a bundle of certificate authorities; otherwise absent. */
  readonly isInjected?: true;
  /** Of a SecretProviderClass: a rotation reported its versions, not only the first mount of a Pod. */
  readonly rotated?: boolean;
}

const digestLength = 32;

/** The fields of an object that a reference reads: environment variables read only `data`. */
export type Parts = "data" | "data and binaryData";

/**
 * Returns the digests of an object without its values. Values of Secrets are decoded first. An object with more keys than
 * the limit keeps no keys: its keys are only counted. `compatibility` names the other controllers whose marks apply.
 *
 * Throws an Error if the object is malformed. The Error names the object, never a value.
 */
export function toConfig(kind: StoredKind, object: ConfigObject, compatibility?: CompatibilitySettings): Config {
  const config = slim(kind, object, compatibility);
  const { annotations, labels } = object.metadata ?? {};
  const marked = isMarked(annotations, stakaterMatch, compatibility);
  // Anyone may write the label. An edit of a ConfigMap that is not immutable must never be ignored because of it.
  const isCopy = kind === "ConfigMap" && labels?.[pinnedCopyLabel] === "true" && object.immutable === true;
  const injected = kind === "ConfigMap" && isInjected(object);
  const misused = misusesOf({ on: "config", kind, understood: compatibility?.understood ?? [] }, object.metadata ?? {});
  const holdReason = config.directive === "hold" ? readHoldReason(annotations) : "";
  if (!marked && !isCopy && !injected && misused === undefined && holdReason === "") return config;
  return {
    ...config,
    ...(holdReason !== "" && { holdReason }),
    ...(misused !== undefined && { misused }),
    ...(marked && { isMarked: true }),
    ...(isCopy && { isCopy: true, copyBytes: contentBytes(object) }),
    ...(injected && { isInjected: true }),
  };
}

/** Returns the size of the keys and values of an object, in bytes. Values of `binaryData` count in base64. */
export function contentBytes(object: ConfigObject): number {
  const binary = "binaryData" in object ? object.binaryData : undefined;
  const entries = [object.data, binary].flatMap((map) => Object.entries<string | DigestedValue>(map ?? {}));
  const length = (value: string | DigestedValue) =>
    typeof value === "string" ? Buffer.byteLength(value) : value.bytes;
  return entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + length(value), 0);
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
    directive: selectsConfig(compatibility, kind, metadata.labels)
      ? readConfigDirective(annotations, compatibility)
      : "unselected",
  };
  const editedKey = contentEditedKey(metadata);
  const revision = Number(metadata.resourceVersion) || undefined;
  const encoding = kind === "Secret" ? "base64" : "utf8";
  const count = countKeys(object.data) + countKeys(binary);
  if (count > limits.keysOfObject.max) {
    // Wave does not parse all keys of an object with even more keys.
    const text =
      count >= parsedKeys ? (metadata.resourceVersion ?? "") : textOf(object.data, encoding) + textOf(binary, "base64");
    const digests = hash("sha256", text, "binary");
    const bare = withoutKeys(about, { limit: "keysOfObject", count });
    return { ...bare, keys: [wholeKey], binaryFrom: 1, digests, revision };
  }
  const [keys, digests] = digest(object.data, encoding, "data", malformed);
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
    editedAt: contentEditedAt(metadata),
    editedBy: contentEditedBy(metadata),
    ...(editedKey && { editedKey }),
    revision,
    directive: about.directive,
  };
}

/** Reports whether another controller fills a ConfigMap: OpenShift's CA injectors, or trust-manager. */
function isInjected({ metadata }: ConfigObject): boolean {
  return (
    metadata?.labels?.["config.openshift.io/inject-trusted-cabundle"] === "true" ||
    metadata?.annotations?.["service.beta.openshift.io/inject-cabundle"] === "true" ||
    metadata?.labels?.["trust.cert-manager.io/bundle"] !== undefined
  );
}

/** The fields of an object that do not depend on its data. */
type ConfigMetadata = Pick<
  Config,
  "kind" | "namespace" | "name" | "sharedWith" | "changedAt" | "directive" | "isMarked"
>;

/** Returns an object beyond a limit without its keys: its name, its grants and its annotations remain. */
export function withoutKeys(
  { kind, namespace, name, sharedWith: grants, changedAt, directive, isMarked }: ConfigMetadata,
  limitExceeded: Pick<LimitExceeded, "limit" | "count" | "max">,
): Config {
  const bare = {
    kind,
    namespace,
    name,
    sharedWith: grants,
    keys: [],
    binaryFrom: 0,
    digests: "",
    changedAt,
    directive,
  };
  return { ...bare, limitExceeded, ...(isMarked && { isMarked }) };
}

/** The only key of an object that is compared as a whole. No real key is empty. */
export const wholeKey = "";

/** Reports whether an object is compared as a whole, because it has too many keys. */
export function isWhole({ limitExceeded }: Config): boolean {
  return limitExceeded?.limit === "keysOfObject";
}

/** Returns an object in the form in which it is compared as a whole. */
export function asWhole(config: Config): Config {
  const text = `${config.binaryFrom}\n${config.keys.map((key) => `${key.length} ${key}`).join("")}`;
  const digests = hash("sha256", Buffer.from(text + config.digests, "latin1"), "binary");
  const limitExceeded = { limit: "keysOfObject", count: config.keys.length } as const;
  return { ...config, keys: [wholeKey], binaryFrom: 1, digests, limitExceeded };
}

/** Returns the sorted keys of a map with their lengths, and the digests of their values. */
function textOf(map: Record<string, string> | null | undefined, encoding: Encoding): string {
  const keys = Object.keys(map ?? {}).sort();
  return `${keys.length}\n${keys.map((key) => `${key.length} ${key}${digestOfValue(map?.[key], encoding)}`).join("")}`;
}

/** Returns the digest of the value of a key; undefined if these fields of the object have no such key. */
export function digestOf(config: Config, key: string, parts: Parts = "data and binaryData"): string | undefined {
  const { keys, binaryFrom } = config;
  const index = indexOf(keys, key, 0, binaryFrom) ?? (parts === "data" ? undefined : indexOf(keys, key, binaryFrom));
  return index === undefined ? undefined : digestAt(config, index);
}

/** Returns the digest of the key at an index of {@link Config.keys}. */
export function digestAt({ digests }: Config, index: number): string {
  return digests.slice(index * digestLength, (index + 1) * digestLength);
}

/** Returns the index of a key in a sorted range of the keys, by binary search. */
function indexOf(keys: readonly string[], key: string, from: number, to = keys.length): number | undefined {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low < to && keys[low] === key ? low : undefined;
}

/** Returns the keys of an object, or of its `data` alone. */
export function keysOf(config: Config, parts: Parts = "data and binaryData"): readonly string[] {
  return parts === "data" ? config.keys.slice(0, config.binaryFrom) : config.keys;
}

/** The fields that {@link sameConfig} does not compare. */
const notCompared = {
  changedAt: 0,
  editedAt: 0,
  editedBy: "",
  editedKey: undefined,
  revision: 0,
  wasAbsentSince: 0,
  isUntimed: true,
} as const;

/** Reports whether two states of one object are equal in everything that Wave reads. */
export function sameConfig(a: Config, b: Config): boolean {
  return equalJson({ ...a, ...notCompared }, { ...b, ...notCompared });
}

/** Returns when the content of an object changed last, in seconds since the epoch; undefined if the API does not show it, or without an object. */
export function contentChangedAt(config: Pick<Config, "editedAt" | "changedAt"> | undefined): number | undefined {
  return config?.editedAt ?? config?.changedAt;
}

/** Reports whether caches that have received everything up to a resourceVersion have received each change of an object up to this state. */
export function isReceived({ revision }: Pick<Config, "revision">, syncedUpTo: number): boolean {
  return revision !== undefined && revision <= syncedUpTo;
}

/**
 * Returns an object after a write, with what is known of the last change of its content. If the content is the same as before, that is what was
 * known before. If it changed and the API has no time of it, the object is marked, and keeps the times before: later ones are of writes that left
 * its content as it was. `before` is the object before; undefined: it did not exist.
 * `isOnlyChange`: no other change came between, as in a watch. Otherwise the last one may be the removal of a key, which can have no time, also if
 * the content is the same again.
 * `newestTime`: the newest time that the object had before, also if a write with this time changed nothing.
 */
export function withChangeTime(
  config: Config,
  before: Config | undefined,
  isOnlyChange: boolean,
  newestTime = before && newestTimeOf(before),
): Config {
  if (!isOnlyChange) return { ...config, isUntimed: true };
  if (before === undefined) return config;
  const { changedAt, editedAt, revision, wasAbsentSince, isUntimed } = before;
  if (hasSameContent(before, config)) {
    const known = { ...config, changedAt, editedAt, revision, ...(wasAbsentSince !== undefined && { wasAbsentSince }) };
    return isUntimed ? { ...known, isUntimed } : known;
  }
  const isTimed = newestTime === undefined || newestTimeOf(config) > newestTime;
  return isTimed ? config : { ...config, changedAt, editedAt, isUntimed: true };
}

/** Returns the newest time that the API shows for an object, in seconds since the epoch; 0 if it shows none. */
export function newestTimeOf({ changedAt = 0, editedAt = 0 }: Pick<Config, "changedAt" | "editedAt">): number {
  return Math.max(changedAt, editedAt);
}

/** Reports whether two states of an object have the same keys and values. */
export function hasSameContent(a: Config, b: Config): boolean {
  return a.digests === b.digests && a.binaryFrom === b.binaryFrom && equalJson(a.keys, b.keys);
}

/** Returns the object as if the value of each key had changed. */
export function withOtherContent(config: Config): Config {
  return {
    ...config,
    digests: Array.from(config.digests, (each) => String.fromCharCode(each.charCodeAt(0) ^ 1)).join(""),
  };
}

/** Reports whether the object grants access to workloads of a namespace. */
export function isSharedWith(config: Config, namespace: string): boolean {
  const { sharedWith: names = "" } = config;
  return names.includes(",*,") || names.includes(`,${namespace},`);
}

/** Returns the number of keys of a map. {@link digest} rejects values that are not maps. */
function countKeys(map: Record<string, string> | null | undefined): number {
  if (typeof map !== "object" || map === null) return 0;
  return Object.keys(map).length;
}

type Malformed = (what: string) => Error;

/** Returns the sorted keys of a map, and the digests of their values in that order. */
function digest(
  map: Record<string, string> | null | undefined,
  encoding: Encoding,
  field: string,
  malformed: Malformed,
): [readonly string[], string] {
  if (map === undefined || map === null) return [[], ""];
  if (typeof map !== "object" || Array.isArray(map)) throw malformed(`${field} is not a map`);
  const keys = Object.keys(map).sort();
  let digests = "";
  for (const key of keys) {
    const next = digestOfValue(map[key], encoding);
    if (next === undefined) throw malformed(`${field} has a value that is not a string, at key "${key}"`);
    digests += next;
  }
  return [keys, flatString(digests)];
}

type Encoding = "utf8" | "base64";

/** Returns the digest of a value; undefined if it is neither a string nor a {@link DigestedValue}. */
function digestOfValue(value: unknown, encoding: Encoding): string | undefined {
  // One call is faster than a Hash object. "binary" is another name of latin1 in Node.
  if (typeof value === "string")
    return hash("sha256", encoding === "utf8" ? value : Buffer.from(value, encoding), "binary");
  if (typeof value !== "object" || value === null || !("sha256" in value)) return undefined;
  return typeof value.sha256 === "string" && value.sha256.length === digestLength ? value.sha256 : undefined;
}

/** Copies a string into one piece: V8 stores the result of `+=` as a tree that retains every part. */
function flatString(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}

function listed(annotation: string | undefined): string | undefined {
  if (typeof annotation !== "string") return undefined;
  if (Buffer.byteLength(annotation) > maxSharedWithBytes) return "";
  const names = annotation.split(",").map((entry) => entry.trim());
  const sorted = [...new Set(names.filter((entry) => entry !== ""))].sort();
  return sorted.length === 0 ? "" : `,${sorted.join(",")},`;
}

/** Reports whether the content of an object changed before a time, in seconds since the epoch; false if that is not known. */
export function changedBefore(config: Config, at: number): boolean {
  const changedAt = contentChangedAt(config);
  return changedAt !== undefined && !config.isUntimed && changedAt < at;
}

/** Reports whether an object had its content before a write. `at` is in seconds since the epoch. */
export function changedBeforeWrite(
  config: Config,
  write: { readonly revision: number; readonly at: number | undefined },
): boolean {
  if (config.revision !== undefined) return config.revision < write.revision;
  return write.at !== undefined && changedBefore(config, write.at);
}
