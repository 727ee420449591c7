import { namespaceOf } from "../../domain/model/workload-shape.ts";
import { apiFailureOf, retryAfterMs } from "../../kube/api/api-failure.ts";
import type { Priority } from "../../runtime/fair-queue.ts";
import { done, type Result } from "../../runtime/workers.ts";
import type { ControllerPermits } from "../../runtime/write-permits.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import { RevertedWrites } from "./reverted-writes.ts";
import type { ObjectWriteResult, OwnerReferenceOptions } from "./write-requests.ts";

/** The delays of retries, in milliseconds. */
export const ownerReferenceBackoff = { baseMs: 200, retryMaxMs: 15_000, rejectedMaxMs: 300_000 };
const conflictMaxMs = 60_000;

/**
 * After this many conflicts, a write is taken as refused. Each try starts from what is stored then, so edits of others do
 * not interfere this often. A policy also refuses with 422
 * (https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/).
 */
const conflictsUntilRefused = 4;

interface OwnerReferenceWrite {
  readonly key: string;
  readonly priority: Priority;
  /** What the write changes, to compare with earlier writes. It may become known during the write. */
  readonly changes: () => readonly string[];
  readonly send: () => Promise<ObjectWriteResult>;
}

/**
 * Sends each write when it is due: with a permit, not before the Retry-After of the API server, and less and less often if
 * another client reverts it.
 */
export class OwnerReferenceWriter {
  readonly #options: OwnerReferenceOptions;
  readonly #permits: ControllerPermits;
  readonly #reverted = new RevertedWrites();
  /** The times from Retry-After, by key, in monotonic milliseconds. */
  readonly #notBefore = new Map<string, number>();

  /** `onPermit` is called with each key that has a permit now. */
  constructor(options: OwnerReferenceOptions, onPermit: (key: string) => void) {
    this.#options = options;
    this.#permits = options.permits.of("housekeeping", { flowOf: namespaceOf, onGranted: onPermit });
  }

  /** Sends a write if it is due. Returns "deferred" otherwise. Rejects if the request fails: then call `failed`. */
  async write({ key, priority, changes, send }: OwnerReferenceWrite): Promise<Result> {
    const { leadership, log, writes, clock } = this.#options;
    const now = clock.monotonic();
    const notBefore = this.#notBefore.get(key) ?? now;
    const delayMs = Math.max(notBefore - now, this.#reverted.waitMs(key, changes(), now, priority === "high"));
    if (delayMs > 0) {
      this.#permits.drop(key);
      return { type: "deferred", delayMs };
    }
    if (leadership.abort.aborted || !leadership.valid()) return { type: "deferred" };
    if (!this.#permits.take(key, priority)) return { type: "deferred" };
    if ((await send()) === "unchanged") {
      this.#permits.giveBack();
      return done;
    }
    writes.inc({ result: "written" });
    log.info("owner references written", { object: key });
    if (this.#reverted.wrote(key, changes(), clock.monotonic())) log.warn(logMessages.ownersReverted, { object: key });
    return done;
  }

  /** Ends a run that succeeded, with a write or without. */
  succeeded(key: string): void {
    this.#notBefore.delete(key);
    this.#permits.drop(key);
  }

  /**
   * Ends a run that failed; `failures` is the number of its failures before. `isRefused`: the retries may fail for ever,
   * because the API server refuses the write.
   */
  failed(key: string, error: unknown, failures: number): { readonly result: Result; readonly isRefused: boolean } {
    const { leadership, log, writes, clock } = this.#options;
    this.#permits.drop(key);
    if (leadership.stop.aborted) return { result: { type: "deferred" }, isRefused: false };
    const { failure, result } = failureOf(error);
    this.#notBefore.set(key, clock.monotonic() + retryAfterMs(error));
    writes.inc({ result: failure });
    if (failures === (failure === "conflict" ? conflictsUntilRefused : 0)) {
      log.warn(logMessages.ownersNotWritten, { object: key, error: errorText(error) });
    }
    const isRefused = failure === "refused" || (failure === "conflict" && failures >= conflictsUntilRefused);
    return { result, isRefused };
  }
}

/**
 * Returns what a failed request is in the metrics (`failure`), and when the queue retries it (`result`). 422 is a failed `test`, and 409 is an object that kept
 * changing: both are edits of others. A refused write stays refused in most cases. Other failures say nothing about the object.
 */
function failureOf(error: unknown) {
  const atLeastMs = retryAfterMs(error);
  switch (apiFailureOf(error)?.type) {
    case "conflict":
    case "alreadyExists":
    case "invalid":
      return { failure: "conflict", result: { type: "retry", atLeastMs, maxMs: conflictMaxMs } } as const;
    case "badRequest":
    case "forbidden":
    case "notFound":
    case "deniedByAdmission":
      return { failure: "refused", result: { type: "retry", maxMs: ownerReferenceBackoff.rejectedMaxMs } } as const;
    default:
      return { failure: "unavailable", result: { type: "retry", atLeastMs } } as const;
  }
}
