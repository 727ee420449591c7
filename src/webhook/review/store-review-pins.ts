import type { AdmissionPins } from "../../domain/admission/admission.ts";
import { pinTexts } from "../../domain/pinning/pin-request.ts";
import { isApiFailure } from "../../kube/api/api-failure.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import { storeCopies } from "../../pinning/store-copies.ts";
import type { StoreCopiesOptions } from "../../pinning/use-copy.ts";

/** What {@link storeReviewPins} needs. */
export interface ReviewPinsOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  /** Makes the check of the owners of copies for one review. Default: no owner exists, so that a copy with owners is not used. */
  readonly newOwnerCheck?: (() => StoreCopiesOptions["isAlive"]) | undefined;
  /** Default: no copies are known. */
  readonly copiesIn?: StoreCopiesOptions["copiesIn"] | undefined;
}

/** The pins of new Pods. "stale": a ConfigMap changed during the review. "unavailable": copies cannot be verified in time. */
type StoredPins = { readonly pinned: string | undefined; readonly warning?: string } | "stale" | "unavailable";

/**
 * Stores the copies that the new Pods of a request read, before the response names them. A copy that cannot be stored in time does not
 * deny the request: then the Pods read live configuration, as without pins. If a change must not reach Pods, the request stays as it is: its
 * pod template has the copies that it had before. `timeoutMs` is the time that is left for the review.
 */
export async function storeReviewPins(
  { workload, sources, lookup, areLive }: AdmissionPins,
  { client, clock, newOwnerCheck = () => async () => false, copiesIn = () => [] }: ReviewPinsOptions,
  timeoutMs: number,
): Promise<StoredPins> {
  if (sources === undefined) return { pinned: undefined };
  const tooLate = new AbortController();
  const cancel = clock.timer(Math.max(0, timeoutMs), () =>
    tooLate.abort(new Error("storing the copies took too long")),
  );
  try {
    const known = { client, lookup, isAlive: newOwnerCheck(), copiesIn };
    const stored = await storeCopies(workload, sources, { ...known, signal: tooLate.signal });
    switch (stored.type) {
      case "stored":
        return { pinned: stored.pinned };
      case "unpinned":
        return { pinned: stored.pinned, warning: stored.message };
      case "stale":
        return "stale";
    }
  } catch (error) {
    if (!tooLate.signal.aborted && !isApiFailure(error)) throw error;
    if (!areLive) return "unavailable";
    return {
      pinned: undefined,
      warning: pinTexts.notPinned("the API server did not answer Wave in time"),
    };
  } finally {
    cancel();
  }
}
