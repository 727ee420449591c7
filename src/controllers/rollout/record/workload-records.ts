import { sharedString } from "../../../domain/syntax/shared-string.ts";
import { newRecord, type WorkloadRecord } from "./workload-record.ts";

/** The records of one term, by the keys of their workloads. */
export class WorkloadRecords {
  readonly #records = new Map<string, WorkloadRecord>();

  /** The record of a workload, made where there is none. */
  of(key: string): WorkloadRecord {
    const known = this.#records.get(key);
    if (known !== undefined) return known;
    const made = newRecord();
    this.#records.set(sharedString(key), made);
    return made;
  }

  /** The record of a workload that was asked for; undefined where it never was. */
  get(key: string): WorkloadRecord | undefined {
    return this.#records.get(key);
  }

  /** Every record, in the order in which they were made. */
  all(): IteratorObject<WorkloadRecord> {
    return this.#records.values();
  }

  /** Drops the record of a workload that is gone. */
  delete(key: string): void {
    this.#records.delete(key);
  }
}
