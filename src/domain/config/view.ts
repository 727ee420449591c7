import type { HashKey } from "../policy/hash-key.ts";
import { type LimitExceeded, limits } from "../references/limits.ts";
import { type ConfigKind, type ConfigName, configKey, type Reference } from "../references/references.ts";
import { type Config, digestAt, digestOf, keysOf, type Parts } from "./digest.ts";
import { type ConfigView, type ViewEntry, viewOf } from "./hash.ts";

/** Finds an object in the cache, or in what was read live; undefined where it does not exist. */
export type Lookup = (kind: ConfigKind, namespace: string, name: string) => Config | undefined;

/** Something required that does not exist. */
export interface Missing extends ConfigName {
  /** The missing key of an object that exists; undefined where the object itself is missing. */
  readonly key?: string;
}

/**
 * What the references show of the objects that exist, hashed under `key`, if there is one. Costs what they show, and a
 * sort that is done for the most part.
 */
export function viewThrough(references: readonly Reference[], lookup: Lookup, key?: HashKey): ConfigView {
  const entries = [
    ...references.flatMap((reference) => entriesOf(reference, find(lookup, reference))),
    ...hiddenFromEnv(references, lookup),
  ];
  return viewOf(entries, key);
}

/** The budget that what the references show exceeds, found without a look at any key. */
export function limitExceededBy(references: readonly Reference[], lookup: Lookup): LimitExceeded | undefined {
  let keys = 0;
  const classes = new Set<string>();
  for (const reference of references) {
    const config = find(lookup, reference);
    if (config?.limitExceeded !== undefined) {
      const { kind, namespace, name } = config;
      return { ...config.limitExceeded, object: { kind, namespace, name } };
    }
    if (reference.kind === "SecretProviderClass") classes.add(reference.name);
    keys += reference.keys === "all" ? (config?.keys.length ?? 0) : reference.keys.length;
  }
  if (classes.size > limits.providerClasses.most) return { budget: "providerClasses", count: classes.size };
  return keys > limits.keys.most ? { budget: "keys", count: keys } : undefined;
}

/** What Pods cannot start without and does not exist, sorted, each once. */
export function missingFrom(references: readonly Reference[], lookup: Lookup): readonly Missing[] {
  const missing = references.filter(({ optional }) => !optional).flatMap((r) => missingOf(r, find(lookup, r)));
  return [...new Map(missing.map((one) => [sortKey(one), one]))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one);
}

/** One entry for each key that is seen. What is absent makes none, be it a key, all keys or the object. */
function entriesOf(
  { kind, namespace, name, reads, keys }: Reference,
  config: Config | undefined,
): readonly ViewEntry[] {
  if (reads === "existence" || config === undefined) return [];
  const parts = partsOf(reads);
  const object = { kind, namespace, name };
  if (keys === "all") {
    return keysOf(config, parts).map((key, index) => ({ ...object, key, digest: digestAt(config, index) }));
  }
  return keys.flatMap((key) => {
    const digest = digestOf(config, key, parts);
    return digest === undefined ? [] : [{ ...object, key, digest }];
  });
}

/**
 * A key of `binaryData` is there for files and absent for environment variables. Where both look at it, it is recorded
 * as both: else its move to `data`, which gives the variable a value, would leave the hash as it is.
 */
function hiddenFromEnv(references: readonly Reference[], lookup: Lookup): readonly ViewEntry[] {
  const looking = references.filter((reference) => {
    const config = reference.reads === "env" ? find(lookup, reference) : undefined;
    return config !== undefined && config.binaryFrom < config.keys.length;
  });
  if (looking.length === 0) return [];
  const shown = keysAsFiles(references);
  return looking.flatMap((env) => {
    const config = find(lookup, env);
    const files = shown.get(configKey(env));
    if (config === undefined || files === undefined) return [];
    const { kind, namespace, name } = env;
    const hidden = (key: string) => digestOf(config, key) !== undefined && digestOf(config, key, "data") === undefined;
    const asked = env.keys === "all" ? config.keys.slice(config.binaryFrom) : env.keys;
    return asked
      .filter((key) => (files === "all" || files.has(key)) && hidden(key))
      .map((key) => ({ kind, namespace, name, key, digest: undefined }));
  });
}

/** The keys that files show, by the key of their object. */
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
  if (keys === "all") return [];
  return keys
    .filter((key) => digestOf(config, key, partsOf(reads)) === undefined)
    .map((key) => ({ kind, namespace, name, key }));
}

/**
 * The kubelet takes environment variables from `data` alone, and files from `data` and `binaryData`:
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/kubelet_pods.go (makeEnvironmentVariables),
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/volume/configmap/configmap.go (MakePayload).
 */
function partsOf(reads: Reference["reads"]): Parts {
  return reads === "env" ? "data" : "data and binaryData";
}

function find(lookup: Lookup, { kind, namespace, name }: ConfigName): Config | undefined {
  return lookup(kind, namespace, name);
}

function sortKey({ key = "", ...object }: Missing): string {
  return `${configKey(object)}/${key}`;
}
