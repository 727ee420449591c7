import type { Workload } from "../../domain/model/workload.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";

/** An object may have been given any number of owners. */
const mostTold = 100;

/** What {@link WhoWaits} works with. */
export interface WhoWaitsOptions {
  readonly recorder: EventRecorder;
  readonly leadership: Pick<Leadership, "abort" | "valid">;
}

/**
 * Tells the owners of workloads that are being deleted why that does not end: nobody looks for it on an object that Wave may not
 * write. Each try is counted on the Event that is there.
 */
export class DeletionBlockedReporter {
  readonly #options: WhoWaitsOptions;
  /** What is being told of: the same Event must not be recorded twice at once. */
  readonly #telling = new Set<string>();

  constructor(options: WhoWaitsOptions) {
    this.#options = options;
  }

  /** What has this key failed, which is why these wait. Never rejects. */
  async tell(key: string, workloads: readonly Workload[], error: unknown): Promise<void> {
    if (this.#telling.has(key)) return;
    this.#telling.add(key);
    const { recorder, leadership } = this.#options;
    const message = `its deletion waits for Wave, which tries again and again: ${errorText(error)}`;
    for (const { row, namespace, name, uid } of workloads.filter(({ deleting }) => deleting).slice(0, mostTold)) {
      if (leadership.abort.aborted || !leadership.valid()) break;
      const regarding = { apiVersion: row.apiVersion, kind: row.kind, namespace, name, uid };
      await recorder.record({ regarding, type: "Warning", reason: "OldFinalizer", message, repeats: "perhaps" });
    }
    this.#telling.delete(key);
  }
}
