import { resourceName } from "../../../domain/model/kind-row.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import { type ApiError, apiFailureOf, refusedFields, retryAfterMs } from "../../../kube/api/api-failure.ts";
import { refusedTexts } from "../report/event-texts.ts";

/** Why a PATCH of a workload failed, by how to continue. */
export type WriteFailure =
  /** The workload does not exist any more. */
  | { readonly type: "gone" }
  /**
   * The object kept changing during the request, perhaps only in its status: the API server gave up.
   * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/endpoints/handlers/patch.go
   * (MaxRetryWhenPatchConflicts).
   */
  | { readonly type: "stale" }
  /**
   * Either a `test` of the patch failed because the workload is newer than the plan, or the patched workload was
   * refused: the API server answers 422 Invalid to both. Reading the workload again shows which.
   */
  | { readonly type: "staleOrRefused"; readonly message: string }
  /** The write is refused. `message` is for the owner of the workload. */
  | { readonly type: "refused"; readonly message: string }
  /** The API server gave no answer, which says nothing about the workload. If `uncertain`, the write may have arrived. */
  | {
      readonly type: "unavailable";
      readonly message: string;
      /** The Retry-After in milliseconds, at most a minute. */
      readonly retryAfterMs: number;
      readonly uncertain: boolean;
    };

/** Returns what a failed write of `workload` means. Throws `error` itself if it is no failed request: that is a bug. */
export function writeFailure(error: unknown, workload: Workload): WriteFailure {
  const failure = apiFailureOf(error);
  switch (failure?.type) {
    case undefined:
      throw error;
    case "notFound":
      return { type: "gone" };
    case "conflict":
    case "alreadyExists":
      return { type: "stale" };
    case "invalid":
      return { type: "staleOrRefused", message: refusal(failure.error, workload) };
    case "badRequest":
    case "forbidden":
    case "deniedByAdmission":
      return { type: "refused", message: refusal(failure.error, workload) };
    case "unauthorized":
    case "expired":
    case "misconfigured":
    case "tooManyRequests":
    case "unavailable": {
      const uncertain = failure.type === "unavailable" && failure.mayBeDone;
      return { type: "unavailable", message: failure.error.message, retryAfterMs: retryAfterMs(error), uncertain };
    }
  }
}

function refusal(error: ApiError, { row, namespace }: Workload): string {
  const { status, serverMessage, reason } = error;
  if (status === 403 && /\bcannot patch resource\b/.test(serverMessage)) {
    return refusedTexts.forbiddenToWrite(resourceName(row), namespace);
  }
  return refusedTexts.refusedWrite(refusedFields(error) ?? oneLine(serverMessage || reason || String(status)));
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
