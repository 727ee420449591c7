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
