// Which workloads read an object: by reference, by regular expression, and as an owner. In memory; knows no requests.
import { sharedString } from "../../domain/syntax/shared-string.ts";

/** Readers of a config object. A single reader, which is the usual case, is stored without a Set. */
type Readers = Reader | Set<Reader>;

interface Reader {
  readonly workload: string;
  configs: readonly Read[];
}

interface Read {
  readonly config: string;
  readers: Readers;
}

/**
 * Maps workloads to the ConfigMaps and Secrets that they read, and back, whether these exist or not. Each key is stored once, as
 * a flat string.
 */
export class ReferenceIndex {
  readonly #workloads = new Map<string, Reader>();
  readonly #configs = new Map<string, Read>();

  /** Replaces the objects that a workload reads. The cost is proportional to the old and new keys. Same keys: no change. */
  set(workloadKey: string, configKeys: readonly string[]): void {
    const reader = this.#workloads.get(workloadKey) ?? { workload: sharedString(workloadKey), configs: [] };
    const keys = new Set(configKeys);
    if (sameKeys(reader.configs, keys)) return;
    for (const read of reader.configs) if (!keys.has(read.config)) this.#removeReader(read, reader);
    reader.configs = [...keys].map((key) => this.#addReader(key, reader));
    if (keys.size === 0) this.#workloads.delete(workloadKey);
    else this.#workloads.set(reader.workload, reader);
  }

  /** Removes a workload. The cost is proportional to its keys. */
  delete(workloadKey: string): void {
    this.set(workloadKey, []);
  }

  /** Returns the keys of the workloads that read an object. Do not change the index while you iterate over them. */
  workloadsOf(configKey: string): Iterable<string> {
    const readers = this.#configs.get(configKey)?.readers;
    if (readers === undefined) return [];
    return readers instanceof Set ? readers.values().map(({ workload }) => workload) : [readers.workload];
  }

  /** Number of workloads and of objects. Nothing remains of removed ones. */
  get size(): { readonly workloads: number; readonly configs: number } {
    return { workloads: this.#workloads.size, configs: this.#configs.size };
  }

  #addReader(configKey: string, reader: Reader): Read {
    const read = this.#configs.get(configKey);
    if (read === undefined) {
      const first = { config: sharedString(configKey), readers: reader };
      this.#configs.set(first.config, first);
      return first;
    }
    if (read.readers instanceof Set) read.readers.add(reader);
    else if (read.readers !== reader) read.readers = new Set([read.readers, reader]);
    return read;
  }

  #removeReader(read: Read, reader: Reader): void {
    if (read.readers instanceof Set) read.readers.delete(reader);
    if (read.readers === reader || (read.readers instanceof Set && read.readers.size === 0)) {
      this.#configs.delete(read.config);
    }
  }
}

function sameKeys(reads: readonly Read[], keys: ReadonlySet<string>): boolean {
  return reads.length === keys.size && reads.every(({ config }) => keys.has(config));
}
