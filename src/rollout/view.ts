import { type Config, digestOf, keysOf, type Parts } from "./digest.ts";
import { type ConfigView, type ViewEntry, viewOf } from "./hash.ts";
import type { HashKey } from "./hash-key.ts";
import { type ConfigKind, type ConfigName, configKey, type Reference } from "./references.ts";

/** Finds an object in the cache, or in what was read live; undefined where it does not exist. */
export type Lookup = (kind: ConfigKind, namespace: string, name: string) => Config | undefined;

/** Something required that does not exist. */
export interface Missing extends ConfigName {
  /** The missing key of an object that exists; undefined where the object itself is missing. */
  readonly key?: string;
}

/** What the references show of the objects that exist, hashed under `key`, if there is one. */
export function viewThrough(references: readonly Reference[], lookup: Lookup, key?: HashKey): ConfigView {
  const entries = [
    ...references.flatMap((reference) => entriesOf(reference, find(lookup, reference))),
    ...hiddenFromEnv(references, lookup),
  ];
  return viewOf(entries, key);
}

/** What Pods cannot start without and does not exist, sorted, each once. */
export function missingFrom(references: readonly Reference[], lookup: Lookup): readonly Missing[] {
  const missing = references.filter(({ optional }) => !optional).flatMap((r) => missingOf(r, find(lookup, r)));
  return [...new Map(missing.map((one) => [sortKey(one), one]))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one);
}

/**
 * All keys: one entry for the object and one for each of its keys, so that an empty object differs from an absent one.
 * Named keys: one entry each, which is absent where the object is.
 */
function entriesOf(
  { kind, namespace, name, reads, keys }: Reference,
  config: Config | undefined,
): readonly ViewEntry[] {
  if (reads === "existence") return [];
  const parts = partsOf(reads);
  const entry = (key: string): ViewEntry => ({
    kind,
    namespace,
    name,
    key,
    digest: config && digestOf(config, key, parts),
  });
  if (keys !== "all") return keys.map(entry);
  const object: ViewEntry = { kind, namespace, name, key: "", digest: config && "" };
  return [object, ...(config ? keysOf(config, parts).map(entry) : [])];
}

/**
 * A key of `binaryData` is there for files and absent for environment variables. Where both read it, it is recorded as
 * both: else its move to `data`, which gives the variable a value, would leave the hash as it is. Named keys are
 * recorded as absent anyway, so this is about `envFrom`.
 */
function hiddenFromEnv(references: readonly Reference[], lookup: Lookup): readonly ViewEntry[] {
  const asFiles = references.filter(({ reads }) => reads === "files");
  return references
    .filter(({ reads, keys }) => reads === "env" && keys === "all")
    .flatMap((env) => {
      const config = find(lookup, env);
      if (config === undefined) return [];
      const { kind, namespace, name } = env;
      return config.keys
        .slice(config.binaryFrom)
        .filter((key) => asFiles.some((r) => configKey(r) === configKey(env) && readsKey(r, key)))
        .map((key) => ({ kind, namespace, name, key, digest: undefined }));
    });
}

function readsKey({ keys }: Reference, key: string): boolean {
  return keys === "all" || keys.includes(key);
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
