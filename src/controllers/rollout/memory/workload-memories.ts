import { sharedString } from "../../../domain/syntax/shared-values.ts";
import { newMemory, type WorkloadMemory } from "./workload-memory.ts";

/** The memories of all workloads, by key, while this process leads. */
export class WorkloadMemories {
  readonly #memories = new Map<string, WorkloadMemory>();

  /** Returns the memory of a workload. Makes one if there is none. */
  of(key: string): WorkloadMemory {
    const known = this.#memories.get(key);
    if (known !== undefined) return known;
    const made = newMemory();
    this.#memories.set(sharedString(key), made);
    return made;
  }

  /** Returns the memory of a workload; undefined if it was never enqueued. */
  get(key: string): WorkloadMemory | undefined {
    return this.#memories.get(key);
  }

  /** Returns all memories, the oldest first. */
  all(): IteratorObject<WorkloadMemory> {
    return this.#memories.values();
  }

  /** Returns the keys of all workloads with their memories. */
  entries(): IteratorObject<[string, WorkloadMemory]> {
    return this.#memories.entries();
  }

  /** Deletes the memory of a workload that is gone. */
  delete(key: string): void {
    this.#memories.delete(key);
  }
}
