// Which workloads read an object: by reference, by regular expression, and as an owner. In memory; knows no requests.
import { sharedString } from "../../domain/syntax/shared-values.ts";

/** The keys of the workloads that read an object. A single reader, which is the usual case, is stored without a Set. */
type Readers = string | Set<string>;

/**
 * Maps workloads to the ConfigMaps and Secrets that they read, and back, whether these exist or not. Each key is stored once, as
 * a shared string.
 */
export class ReferenceIndex {
  /** The keys of the objects that each workload reads, each once. */
  readonly #configs = new Map<string, readonly string[]>();
  readonly #readers = new Map<string, Readers>();

  /** Replaces the objects that a workload reads. The cost is proportional to the old and new keys. Same keys: no change. */
  set(workloadKey: string, configKeys: readonly string[]): void {
    const before = this.#configs.get(workloadKey) ?? [];
    const keys = new Set(configKeys);
    if (before.length === keys.size && before.every((key) => keys.has(key))) return;
    const workload = sharedString(workloadKey);
    for (const key of before) if (!keys.has(key)) this.#removeReader(key, workload);
    // An array from `Array.from` would have room for more.
    const configs = [...keys].map(sharedString);
    for (const key of configs) this.#addReader(key, workload);
    if (configs.length === 0) this.#configs.delete(workload);
    else this.#configs.set(workload, configs);
  }

  /** Removes a workload. The cost is proportional to its keys. */
  delete(workloadKey: string): void {
    this.set(workloadKey, []);
  }

  /** Returns the keys of the workloads that read an object. Do not change the index while you iterate over them. */
  workloadsOf(configKey: string): Iterable<string> {
    const readers = this.#readers.get(configKey);
    if (readers === undefined) return [];
    return typeof readers === "string" ? [readers] : readers.values();
  }

  /** Number of workloads and of objects. Nothing remains of removed ones. */
  get size(): { readonly workloads: number; readonly configs: number } {
    return { workloads: this.#configs.size, configs: this.#readers.size };
  }

  #addReader(config: string, workload: string): void {
    const readers = this.#readers.get(config);
    if (readers === undefined) this.#readers.set(config, workload);
    else if (typeof readers !== "string") readers.add(workload);
    else if (readers !== workload) this.#readers.set(config, new Set([readers, workload]));
  }

  #removeReader(config: string, workload: string): void {
    const readers = this.#readers.get(config);
    if (typeof readers === "object") readers.delete(workload);
    if (readers === workload || (typeof readers === "object" && readers.size === 0)) this.#readers.delete(config);
  }
}
