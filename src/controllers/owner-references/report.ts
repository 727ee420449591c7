import type { Workload } from "../../domain/model/workload.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { deletionBlockedEvent } from "./texts.ts";

/** The most workloads that one report names: an object may have any number of owners. */
const maxReported = 100;

/** What {@link DeletionBlockedReporter} needs. */
export interface DeletionBlockedReporterOptions {
  readonly recorder: EventRecorder;
  readonly leadership: Pick<Leadership, "abort" | "valid">;
}

/**
 * Reports on workloads that are being deleted why the deletion does not end: nobody would look for the cause on an object
 * that Wave may not write. The existing Event counts the tries.
 */
export class DeletionBlockedReporter {
  readonly #options: DeletionBlockedReporterOptions;
  /** The keys of the reports in progress: the same Event must not be recorded twice at once. */
  readonly #reporting = new Set<string>();

  constructor(options: DeletionBlockedReporterOptions) {
    this.#options = options;
  }

  /** Reports that the run of `key` failed, for which these workloads wait. Never rejects. */
  async report(key: string, workloads: readonly Workload[], error: unknown): Promise<void> {
    if (this.#reporting.has(key)) return;
    this.#reporting.add(key);
    const { recorder, leadership } = this.#options;
    const event = deletionBlockedEvent(errorText(error));
    for (const { row, namespace, name, uid } of workloads.filter(({ deleting }) => deleting).slice(0, maxReported)) {
      if (leadership.abort.aborted || !leadership.valid()) break;
      const regarding = { apiVersion: row.apiVersion, kind: row.kind, namespace, name, uid };
      await recorder.record({ regarding, ...event, repeats: "perhaps" });
    }
    this.#reporting.delete(key);
  }
}
