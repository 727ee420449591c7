// The resources, types and errors of the Kubernetes API. Makes no request.
import type { Status } from "#kubernetes";
import { errorText } from "../../telemetry/logging/log-messages.ts";

/** Why a request to the API server failed, by what a client does about it. Code that only needs one of these answers uses `isConflict` and its neighbours. */
type ApiFailure =
  | {
      readonly type: /** 404: the object, or its kind, does not exist. */
        | "notFound"
        /** 409 on create: an object with this name exists. */
        | "alreadyExists"
        /** 409 on write: the object kept changing, or is newer than the one that the write was made from. */
        | "conflict"
        /** 422: the object is not valid, or a `test` of a JSON Patch failed. */
        | "invalid"
        /** 410: the server no longer keeps the requested resourceVersion or page. */
        | "expired"
        /** 401: the server does not accept the credentials. */
        | "unauthorized"
        /** 403: RBAC, a quota or an admission plugin forbids the request. */
        | "forbidden"
        /** 400 or 413: the server does not accept the request itself. */
        | "badRequest"
        /** An admission webhook or policy denied the request, with any status, or the server could not call a required webhook. */
        | "deniedByAdmission"
        /** 429: the server limits the request rate. It did nothing. */
        | "tooManyRequests";
      readonly error: ApiError;
    }
  /** There is no usable response now, which says nothing about the object. */
  | {
      readonly type: "unavailable";
      readonly error: ApiError | ConnectionError;
      /** Reports whether the server may have executed the request. */
      readonly mayBeDone: boolean;
    }
  /** The kubeconfig, token file or credential plugin failed. Nothing was sent. */
  | { readonly type: "misconfigured"; readonly error: ClusterConfigError };

/** A longer Retry-After is ignored: the API server sends seconds. Hours come from a proxy, and would stop Wave for hours. */
const maxRetryAfterMs = 300_000;

/** Classifies the error of a request. Returns undefined for an error that no request throws: that is a bug. */
export function apiFailureOf(error: unknown): ApiFailure | undefined {
  if (error instanceof ConnectionError) return { type: "unavailable", error, mayBeDone: true };
  if (error instanceof ClusterConfigError) return { type: "misconfigured", error };
  return error instanceof ApiError ? failureOf(error) : undefined;
}

/** Reports whether an error comes from the API server, from the connection to it or from its configuration. */
export function isApiFailure(error: unknown): boolean {
  return apiFailureOf(error) !== undefined;
}

/** Reports whether an error comes from the API server or from the connection to it. */
export function isClusterFailure(error: unknown): error is ApiError | ConnectionError {
  return error instanceof ApiError || error instanceof ConnectionError;
}

/** Reports whether the server no longer keeps the requested resourceVersion or page. */
export function isExpired(error: unknown): boolean {
  return apiFailureOf(error)?.type === "expired";
}

/** Returns why the server refuses a write for as long as its rules and the object stay the same; undefined for another error. */
export function refusalOf(error: unknown): (ApiFailure & { readonly error: ApiError }) | undefined {
  const failure = apiFailureOf(error);
  switch (failure?.type) {
    case "forbidden":
    case "invalid":
    case "badRequest":
    case "deniedByAdmission":
      return failure;
    default:
      return undefined;
  }
}

/** Returns how long the server requests to wait before the next try, in milliseconds: 0 to 300,000. */
export function retryAfterMs(error: unknown): number {
  return error instanceof ApiError ? Math.min(error.retryAfterMs ?? 0, maxRetryAfterMs) : 0;
}

function failureOf(error: ApiError): ApiFailure {
  const { status, reason, serverMessage } = error;
  if (admissionDenials.some((denial) => denial.test(serverMessage))) return { type: "deniedByAdmission", error };
  if (!isFromApiServer(error)) return { type: "unavailable", error, mayBeDone: true };
  // A stream that began with 200 ends with this reason.
  if (reason === "Expired") return { type: "expired", error };
  switch (status) {
    case 400:
    case 413:
      return { type: "badRequest", error };
    case 401:
      return { type: "unauthorized", error };
    case 403:
      return { type: "forbidden", error };
    case 404:
      return { type: "notFound", error };
    case 409:
      return { type: reason === "AlreadyExists" ? "alreadyExists" : "conflict", error };
    case 410:
      return { type: "expired", error };
    case 422:
      return { type: "invalid", error };
    case 429:
      return { type: "tooManyRequests", error };
    default:
      // Failures of etcd are 500 ("etcdserver: request timed out", "leader changed") and a deadline is 504, both possibly in
      // the middle of a write. The API server sends 503 before it begins.
      return { type: "unavailable", error, mayBeDone: status >= 500 && status !== 503 };
  }
}

/**
 * A webhook may deny with any status, and a required webhook that cannot be called is a 500. Only the message shows both.
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/errors/statuserror.go,
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go
 */
const admissionDenials = [
  /^admission webhook ".*" denied the request/,
  /^Internal error occurred: failed calling webhook /,
  /^\S+ "[^"]*" is forbidden: ValidatingAdmissionPolicy '/,
];

/**
 * Reports whether the API server itself responded, and not a proxy with its own page. The API server sends a reason with
 * each refusal (https://pkg.go.dev/k8s.io/apimachinery/pkg/api/errors), but not with every 500 and 429.
 */
export function isFromApiServer({ reason, status }: ApiError): boolean {
  return reason !== "" || status === 500 || status === 429;
}

/**
 * Returns which fields of an object are not valid, and how; undefined if the error does not list them. The server's own message would quote
 * their values, and the value of a variable may be a password.
 */
export function refusedFields({ status, details }: ApiError): string | undefined {
  if (status !== 422) return undefined;
  const fields = details?.causes?.flatMap(({ field, reason }) => (field ? `${field} (${reason ?? "invalid"})` : []));
  return fields === undefined || fields.length === 0 ? undefined : [...new Set(fields)].join(", ");
}

/** Returns the text of an error for an Event or a log, without values of the object that was written. */
export function errorTextWithoutValues(error: unknown): string {
  const failure = apiFailureOf(error);
  const fields = failure?.type === "invalid" ? refusedFields(failure.error) : undefined;
  return fields === undefined ? errorText(error) : `the API server refused the write: ${fields}`;
}

interface ApiErrorFields
  extends Pick<ApiError, "status" | "reason" | "serverMessage">,
    Partial<Pick<ApiError, "retryAfterMs" | "details">> {
  /** The request, such as "patch deployments/web in default". */
  readonly request: string;
}

/** An error response of the server. Message: "patch deployments/web in default: 403 Forbidden: …". */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** The reason in CamelCase, such as "NotFound" (https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#StatusReason). */
  readonly reason: string;
  /** The message of the server, without the request. */
  readonly serverMessage: string;
  /** Requested wait before the next try, in milliseconds; undefined if the server requests none. */
  readonly retryAfterMs: number | undefined;
  readonly details: Status["details"] | undefined;

  constructor({ request, status, reason, serverMessage, retryAfterMs, details }: ApiErrorFields) {
    super(`${request}: ${status}${reason && ` ${reason}`}${serverMessage && `: ${serverMessage}`}`);
    this.status = status;
    this.reason = reason;
    this.serverMessage = serverMessage;
    this.retryAfterMs = retryAfterMs;
    this.details = details;
  }
}

/** Returns the error of a Status that the API server sent. The header Retry-After has precedence over the wait in the Status. */
export function statusError(
  request: string,
  status: number,
  { reason, message, details }: Status,
  headerWaitMs?: number,
): ApiError {
  const seconds = details?.retryAfterSeconds;
  const retryAfterMs = headerWaitMs ?? (seconds ? seconds * 1000 : undefined);
  // A gateway may write null.
  return new ApiError({ request, status, reason: reason ?? "", serverMessage: message ?? "", retryAfterMs, details });
}

/** The server is unreachable, the connection broke, or the request timed out. The server may have executed the request. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/** The kubeconfig, the environment of the Pod or the credentials are missing or invalid. One line: file, cause, next step. */
export class ClusterConfigError extends Error {
  override readonly name = "ClusterConfigError";
}

/** Returns the text of an error for a response that no API server sends, such as the page of a gateway. `what` describes its body. */
export function foreignResponseText(contentType: string, what = ""): string {
  const body = `content type ${contentType || "missing"}${what && `, ${what}`}`;
  return `the response is not from a Kubernetes API server (${body}). Check the server address, the proxy, and whether a gateway requires a login`;
}

/** A proxy responds with the same statuses, but without a reason. */
function hasStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status && error.reason !== "";
}

/** Reports whether the status is 401: the server does not accept the credentials. */
export const isUnauthorized = (error: unknown): error is ApiError => hasStatus(error, 401);
/** Reports whether the status is 403: RBAC or admission forbids the request. */
export const isForbidden = (error: unknown): error is ApiError => hasStatus(error, 403);
/** Reports whether the status is 404: the object or its kind does not exist. */
export const isNotFound = (error: unknown): error is ApiError => hasStatus(error, 404);
/** Reports whether a create failed with 409: an object with this name exists. */
export const isAlreadyExists = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason === "AlreadyExists";
/** Reports whether a write failed with 409: the object is newer than the one that the write was made from. */
export const isConflict = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason !== "AlreadyExists";
/** Reports whether the status is 422: the object is invalid, or a `test` of a JSON Patch failed. */
export const isInvalid = (error: unknown): error is ApiError => hasStatus(error, 422);
