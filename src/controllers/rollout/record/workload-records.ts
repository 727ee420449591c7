import { sharedString } from "../../../domain/syntax/shared-string.ts";
import { newRecord, type WorkloadRecord } from "./workload-record.ts";

/** The records of all workloads, by key, while this process leads. */
export class WorkloadRecords {
  readonly #records = new Map<string, WorkloadRecord>();

  /** Returns the record of a workload. Makes one if there is none. */
  of(key: string): WorkloadRecord {
    const known = this.#records.get(key);
    if (known !== undefined) return known;
    const made = newRecord();
    this.#records.set(sharedString(key), made);
    return made;
  }

  /** Returns the record of a workload; undefined if it was never enqueued. */
  get(key: string): WorkloadRecord | undefined {
    return this.#records.get(key);
  }

  /** Returns all records, the oldest first. */
  all(): IteratorObject<WorkloadRecord> {
    return this.#records.values();
  }

  /** Returns the keys of all workloads with their records. */
  entries(): IteratorObject<[string, WorkloadRecord]> {
    return this.#records.entries();
  }

  /** Deletes the record of a workload that is gone. */
  delete(key: string): void {
    this.#records.delete(key);
  }
}
