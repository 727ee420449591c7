import { configResources } from "../../cache/live/live-configs.ts";
import { parseStoredKey, type StoredName } from "../../domain/references/references.ts";

/** What a key of the queue names. */
export type OwnerReferenceKey =
  /** A workload, which may get or lose its finalizer. */
  | { readonly type: "workload" }
  /** A ConfigMap or Secret, which may get or lose owners. */
  | { readonly type: "object"; readonly name: StoredName }
  /** A sweep of a namespace: find all objects of workloads that are about to lose their finalizer. */
  | { readonly type: "sweep"; readonly namespace: string };

const sweepPrefix = "sweep/";

/** Returns the key of a sweep. Like all keys, it has the namespace in second place. */
export function sweepKey(namespace: string): string {
  return `${sweepPrefix}${namespace}/`;
}

/** Returns what a key names. Each key that is no sweep and no object is the key of a workload. */
export function parseOwnerReferenceKey(key: string): OwnerReferenceKey {
  if (key.startsWith(sweepPrefix)) return { type: "sweep", namespace: key.slice(sweepPrefix.length, -1) };
  const isObject = Object.keys(configResources).some((kind) => key.startsWith(`${kind}/`));
  return isObject ? { type: "object", name: parseStoredKey(key) } : { type: "workload" };
}
