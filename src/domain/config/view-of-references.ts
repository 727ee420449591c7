import type { HashKey } from "../policy/hash-key.ts";
import {
  type ConfigKind,
  type ConfigName,
  configKey,
  type LimitExceeded,
  limits,
  type Reference,
} from "../references/references.ts";
import { formatList, quoted } from "../syntax/names.ts";
import { type Config, contentChangedAt, digestAt, digestOf, isWhole, keysOf, type Parts, wholeKey } from "./digest.ts";
import { type ConfigView, type ViewEntry, viewOf } from "./hash.ts";

/** Finds an object in the caches, or in a live read; undefined if it does not exist. */
export type Lookup = (kind: ConfigKind, namespace: string, name: string) => Config | undefined;

/** A required object or key that does not exist. */
export interface Missing extends ConfigName {
  /** The missing key of an existing object; undefined if the object itself is missing. */
  readonly key?: string;
}

/**
 * Returns the view of the existing objects that the references read, hashed with `key` if it is given. The cost is linear in the
 * entries, plus a sort of mostly sorted entries.
 */
export function viewOfReferences(references: readonly Reference[], lookup: Lookup, key?: HashKey): ConfigView {
  const empty: Reference[] = [];
  const read = references.flatMap((reference) => {
    const config = findConfig(lookup, reference);
    const entries = entriesOf(reference, config);
    if (entries.length === 0 && config !== undefined && reference.reads !== "existence") empty.push(reference);
    return entries;
  });
  const view = viewOf([...read, ...hiddenFromEnv(references, lookup)], key);
  // Almost every view: nothing more is computed.
  if (empty.length === 0) return view;
  // Another reference may read keys of the same object.
  const emptyObjects = new Set(empty.map(configKey)).difference(new Set(view.entries.map(configKey)));
  return emptyObjects.size === 0 ? view : { ...view, emptyObjects };
}

/** Returns the limit that the references exceed, without reading any key; undefined if they exceed none. */
export function limitExceededBy(references: readonly Reference[], lookup: Lookup): LimitExceeded | undefined {
  let keys = 0;
  const classes = new Set<string>();
  for (const reference of references) {
    const config = findConfig(lookup, reference);
    if (config?.limitExceeded !== undefined && !isWhole(config)) {
      const { kind, namespace, name } = config;
      return { ...config.limitExceeded, object: { kind, namespace, name } };
    }
    if (reference.kind === "SecretProviderClass") classes.add(reference.name);
    keys += countKeys(reference, config);
  }
  if (classes.size > limits.providerClasses.max) return { limit: "providerClasses", count: classes.size };
  return keys > limits.keys.max ? { limit: "keys", count: keys } : undefined;
}

/** Returns how many keys of `config` a reference reads. Named keys count also if they are missing. */
export function countKeys({ keys }: Reference, config: Config | undefined): number {
  return keys === "all" ? (config?.keys.length ?? 0) : keys.length;
}

/** Returns the missing objects and keys without which Pods cannot start, sorted, each once. */
export function missingFrom(references: readonly Reference[], lookup: Lookup): readonly Missing[] {
  const missing = references.filter(({ optional }) => !optional).flatMap((r) => missingOf(r, findConfig(lookup, r)));
  if (missing.length === 0) return missing;
  return [...new Map(missing.map((one) => [sortKey(one), one]))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one);
}

/** Returns one entry for each key that the reference reads. Missing keys and objects have no entry. */
function entriesOf(
  { kind, namespace, name, reads, keys }: Reference,
  config: Config | undefined,
): readonly ViewEntry[] {
  if (reads === "existence" || config === undefined) return [];
  const parts = partsOf(reads);
  const object = { kind, namespace, name };
  if (keys === "all" || isWhole(config)) {
    return keysOf(config, parts).map((key, index) => ({ ...object, key, digest: digestAt(config, index) }));
  }
  return keys.flatMap((key) => {
    const digest = digestOf(config, key, parts);
    return digest === undefined ? [] : [{ ...object, key, digest }];
  });
}

/**
 * Returns entries for keys of `binaryData` that files show and environment variables cannot read. If both read the key, the view
 * has both entries: otherwise a move of the key to `data`, which sets the variable, would not change the hash.
 */
function hiddenFromEnv(references: readonly Reference[], lookup: Lookup): readonly ViewEntry[] {
  const fromEnv = references.filter((reference) => {
    const config = reference.reads === "env" ? findConfig(lookup, reference) : undefined;
    return config !== undefined && config.binaryFrom < config.keys.length;
  });
  if (fromEnv.length === 0) return [];
  const shown = keysAsFiles(references);
  return fromEnv.flatMap((env) => {
    const config = findConfig(lookup, env);
    const files = shown.get(configKey(env));
    if (config === undefined || files === undefined) return [];
    const { kind, namespace, name } = env;
    const hidden = (key: string) => digestOf(config, key) !== undefined && digestOf(config, key, "data") === undefined;
    const wanted = env.keys === "all" ? config.keys.slice(config.binaryFrom) : env.keys;
    return wanted
      .filter((key) => (files === "all" || files.has(key)) && hidden(key))
      .map((key) => ({ kind, namespace, name, key, digest: undefined }));
  });
}

/** Returns the keys that files show, by the key of their object. */
function keysAsFiles(references: readonly Reference[]): ReadonlyMap<string, "all" | ReadonlySet<string>> {
  const shown = new Map<string, "all" | Set<string>>();
  for (const reference of references) {
    if (reference.reads !== "files") continue;
    const object = configKey(reference);
    const before = shown.get(object) ?? new Set();
    if (before === "all" || reference.keys === "all") shown.set(object, "all");
    else shown.set(object, before.union(new Set(reference.keys)));
  }
  return shown;
}

function missingOf({ kind, namespace, name, reads, keys }: Reference, config: Config | undefined): readonly Missing[] {
  if (config === undefined) return [{ kind, namespace, name }];
  if (keys === "all" || isWhole(config)) return [];
  return keys
    .filter((key) => digestOf(config, key, partsOf(reads)) === undefined)
    .map((key) => ({ kind, namespace, name, key }));
}

/**
 * Returns the fields that a reference reads. The kubelet takes environment variables from `data` alone, and files from `data` and `binaryData`:
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/kubelet_pods.go (makeEnvironmentVariables),
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/volume/configmap/configmap.go (MakePayload).
 */
function partsOf(reads: Reference["reads"]): Parts {
  return reads === "env" ? "data" : "data and binaryData";
}

/** Returns what a lookup finds for an object; undefined if the object does not exist. */
export function findConfig(lookup: Lookup, { kind, namespace, name }: ConfigName): Config | undefined {
  return lookup(kind, namespace, name);
}

function sortKey({ key = "", ...object }: Missing): string {
  return `${configKey(object)}/${key}`;
}

/** An object before and after a change; undefined: it did not exist. */
export interface ConfigChange {
  readonly before: Pick<Config, "changedAt" | "editedAt"> | undefined;
  readonly after: Pick<Config, "changedAt" | "editedAt"> | undefined;
}

/**
 * Returns the time that the API has of a change, in seconds since the epoch; undefined if it has none. The API forgets a field manager, with
 * its time, when that has removed its last field. Then the object has the time of an earlier change.
 * See https://kubernetes.io/docs/reference/using-api/server-side-apply/
 */
export function storedTimeOf({ before, after }: ConfigChange): number | undefined {
  const changedAt = contentChangedAt(after);
  return changedAt !== undefined && changedAt > (contentChangedAt(before) ?? 0) ? changedAt : undefined;
}

/** A change of one object since the last rollout. */
export interface Change extends ConfigName {
  /**
   * "changed": some of its keys changed. "added" and "removed": the object did not exist before, or does not exist now, or the
   * reference to it was added or removed.
   */
  readonly how: "changed" | "added" | "removed";
  /** The keys that were added, removed or changed, sorted. Empty if all were added or removed, or if they are not known. */
  readonly keys: readonly string[];
}

/** Returns the differences of two views: one entry for each object, sorted by kind, namespace and name. */
export function changesBetween(before: ConfigView, after: ConfigView): readonly Change[] {
  const [old, current] = [byObject(before), byObject(after)];
  const names = [...new Set([...old.keys(), ...current.keys()])].sort();
  return names.flatMap((name) => {
    const [entriesBefore, entriesAfter] = [old.get(name), current.get(name)];
    const isChanged = before.emptyObjects?.has(name) || after.emptyObjects?.has(name);
    return changeOf(entriesBefore, entriesAfter, isChanged) ?? [];
  });
}

function byObject(view: ConfigView): ReadonlyMap<string, readonly ViewEntry[]> {
  return Map.groupBy(view.entries, configKey);
}

/** Returns the change of one object. `isChanged`: the object existed before and exists now, with other keys. */
function changeOf(
  before: readonly ViewEntry[] = [],
  after: readonly ViewEntry[] = [],
  isChanged = false,
): Change | undefined {
  const [example] = after.length > 0 ? after : before;
  if (example === undefined) return undefined;
  const { kind, namespace, name } = example;
  const object = { kind, namespace, name };
  if (before.length === 0 && !isChanged) return { ...object, how: "added", keys: [] };
  if (after.length === 0 && !isChanged) return { ...object, how: "removed", keys: [] };
  const keys = [...new Set([...without(before, after), ...without(after, before)])].sort();
  if (keys.includes(wholeKey)) return { ...object, how: "changed", keys: [] };
  return keys.length > 0 ? { ...object, how: "changed", keys } : undefined;
}

/** Returns the keys of the entries that `others` does not contain in the same state. */
function without(entries: readonly ViewEntry[], others: readonly ViewEntry[]): readonly string[] {
  const same = new Set(others.map(state));
  return entries.filter((entry) => !same.has(state(entry))).map(({ key }) => key);
}

function state({ key, digest }: ViewEntry): string {
  return digest === undefined ? `${key}/hidden` : `${key}/seen ${digest}`;
}

/** How many objects a message names, how many keys of each object, and how many of both. The API server limits the message of an Event to 1 KiB. */
const shownObjects = 5;
const shownKeys = 5;
const shownNames = 10;

/** Returns `Secret "db"`, or `Secret "other/db"` if the object is not in the namespace of the workload. */
export function describeObject({ kind, namespace, name }: ConfigName, workloadNamespace: string): string {
  return `${kind} ${quoted(namespace === workloadNamespace ? name : `${namespace}/${name}`)}`;
}

/** Returns the missing objects and keys: `Secret "db" (key "password") and ConfigMap "web"`. */
export function describeMissing(missing: readonly Missing[], workloadNamespace: string): string {
  const objects = [...Map.groupBy(missing, configKey).values()];
  return formatList(objects, shownObjects, (ofObject) => {
    const keys = ofObject.flatMap(({ key }) => key ?? []);
    return ofObject.slice(0, 1).map((object) => describeObject(object, workloadNamespace)) + parenthesized(keys);
  });
}

/** Returns the changes, each with a suffix: `ConfigMap "web" changed (key "index.html") and Secret "db" was added`. Undefined or none: unknown changes. */
export function describeChanges(
  changed: readonly Change[] | undefined,
  workloadNamespace: string,
  suffix: (change: Change) => string = () => "",
): string {
  if (changed === undefined || changed.length === 0) return "the configuration changed after its hash was recorded";
  const keys = Math.floor(shownNames / Math.min(changed.length, shownObjects)) - 1;
  return formatList(changed, shownObjects, (change) => {
    const object = describeObject(change, workloadNamespace);
    // Its only key is internal to Wave.
    if (change.kind === "SecretProviderClass" && change.how === "changed")
      return `${object} was rotated${suffix(change)}`;
    return `${object} ${verbs[change.how]}${parenthesized(change.keys, Math.min(keys, shownKeys))}${suffix(change)}`;
  });
}

const verbs: Record<Change["how"], string> = {
  changed: "changed",
  added: "was added",
  removed: "was removed",
};

function parenthesized(keys: readonly string[], shown = shownKeys): string {
  if (keys.length === 0) return "";
  return ` (${keys.length === 1 ? "key" : "keys"} ${formatList(keys, shown, quoted)})`;
}
