import { ApiError, ConnectionError } from "../kube/errors.ts";
import type { Workload } from "../rollout/workload.ts";

/** Why a PATCH of a workload did not succeed, by what is to be done about it. */
export type WriteFailure =
  /** The workload does not exist any more. */
  | { readonly type: "gone" }
  /**
   * The object kept changing during the request, if only in its status: the API server gave up.
   * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/endpoints/handlers/patch.go
   * (MaxRetryWhenPatchConflicts).
   */
  | { readonly type: "stale" }
  /**
   * Either a `test` of the patch failed because the workload is newer than the plan, or the patched workload was
   * refused: the API server answers 422 Invalid to both. Reading it again tells.
   */
  | { readonly type: "staleOrRefused"; readonly message: string }
  /** This workload may not be written by Wave, or not as it would be. `message` is for its owner. */
  | { readonly type: "refused"; readonly message: string }
  /** The API server cannot answer now. It may or may not have written where `uncertain`. */
  | {
      readonly type: "unavailable";
      readonly message: string;
      readonly retryAfterMs: number;
      readonly uncertain: boolean;
    };

/** Tells what a failed request to write `workload` means. Throws `error` itself where it comes from no server: a bug. */
export function writeFailure(error: unknown, workload: Workload): WriteFailure {
  if (error instanceof ConnectionError) {
    return { type: "unavailable", message: error.message, retryAfterMs: 0, uncertain: true };
  }
  if (!(error instanceof ApiError)) throw error;
  switch (error.status) {
    case 404:
      return { type: "gone" };
    case 409:
      return { type: "stale" };
    case 422:
      return { type: "staleOrRefused", message: refusal(error, workload) };
    case 400:
    case 403:
    case 413:
    case 500: // Also where an admission webhook that must be asked could not be.
      return { type: "refused", message: refusal(error, workload) };
    default: {
      const { message, retryAfterMs = 0, status } = error;
      return { type: "unavailable", message, retryAfterMs, uncertain: status === 504 };
    }
  }
}

function refusal(error: ApiError, { kind, namespace }: Workload): string {
  const { status, serverMessage, reason } = error;
  if (status === 403 && /\bcannot patch resource\b/.test(serverMessage)) {
    return `Wave lacks a permission: give its service account the verb "patch" on ${kind.toLowerCase()}s.apps in namespace "${namespace}"`;
  }
  return `the API server refused to record the hash of its configuration: ${refusedFields(error) ?? oneLine(serverMessage || reason || String(status))}`;
}

/**
 * Which fields of the pod template are not valid, and how. The server's own message would quote what stands in them,
 * and a variable of a pod template may be somebody's password.
 */
function refusedFields({ status, details }: ApiError): string | undefined {
  if (status !== 422) return undefined;
  const fields = details?.causes?.flatMap(({ field, reason }) => (field ? `${field} (${reason ?? "invalid"})` : []));
  return fields === undefined || fields.length === 0 ? undefined : [...new Set(fields)].join(", ");
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
