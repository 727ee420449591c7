import { resourceName } from "../../../domain/model/kind-row.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import { ApiError, ClusterConfigError, ConnectionError } from "../../../kube/api/errors.ts";

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
  /** No answer to be had now, which says nothing about the workload. It may have been written where `uncertain`. */
  | {
      readonly type: "unavailable";
      readonly message: string;
      /** Before that it is of no use to try again; at most a minute. */
      readonly retryAfterMs: number;
      readonly uncertain: boolean;
    };

/**
 * A Retry-After is heeded no longer than this. The API server asks for seconds; what asks for a day is something in
 * between, and would stop Wave for a day.
 */
const longestRetryAfterMs = 60_000;

/** Tells what a failed request to write `workload` means. Throws `error` itself where it comes from no server: a bug. */
export function writeFailure(error: unknown, workload: Workload): WriteFailure {
  if (error instanceof ConnectionError) return unavailable(error.message, true);
  // A credential plugin or token file that fails: nothing was sent.
  if (error instanceof ClusterConfigError) return unavailable(error.message, false);
  if (!(error instanceof ApiError)) throw error;
  if (deniedByWebhook(error)) return { type: "refused", message: refusal(error, workload) };
  const { message, retryAfterMs, status } = error;
  if (!isApiServers(error)) return unavailable(message, true, retryAfterMs);
  switch (status) {
    case 404:
      return { type: "gone" };
    case 409:
      return { type: "stale" };
    case 422:
      return { type: "staleOrRefused", message: refusal(error, workload) };
    case 400:
    case 403:
    case 413:
      return { type: "refused", message: refusal(error, workload) };
    default:
      // What etcd fails with comes as 500 ("etcdserver: request timed out", "leader changed"), a deadline as 504: in the
      // middle of a write. 503 and 429 the API server answers before it begins.
      return unavailable(message, status >= 500 && status !== 503, retryAfterMs);
  }
}

function unavailable(message: string, uncertain: boolean, retryAfterMs = 0): WriteFailure {
  return { type: "unavailable", message, retryAfterMs: Math.min(retryAfterMs, longestRetryAfterMs), uncertain };
}

/**
 * An admission webhook denies with any status that it likes, and one that must be asked and cannot be is a 500: both are
 * told by the API server's own words.
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/errors/statuserror.go,
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go
 */
function deniedByWebhook({ serverMessage }: ApiError): boolean {
  return /^admission webhook ".*" denied the request|^Internal error occurred: failed calling webhook /.test(
    serverMessage,
  );
}

/**
 * Whether the API server itself answered, and not a proxy with a page of its own: it gives a reason with each of its
 * refusals (https://pkg.go.dev/k8s.io/apimachinery/pkg/api/errors), though not with what it does not know, a 500.
 */
function isApiServers({ reason, status }: ApiError): boolean {
  return reason !== "" || status === 500 || status === 429;
}

function refusal(error: ApiError, { row, namespace }: Workload): string {
  const { status, serverMessage, reason } = error;
  if (status === 403 && /\bcannot patch resource\b/.test(serverMessage)) {
    return `Wave lacks a permission: give its service account the verb "patch" on ${resourceName(row)} in namespace "${namespace}"`;
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
