// The resources, types and errors of the Kubernetes API. Makes no request.
import type { Status } from "./api-types.ts";

/** Fields of an {@link ApiError}. */
interface ApiErrorFields {
  /** The request, such as "patch deployments/web in default". */
  readonly request: string;
  readonly status: number;
  /** Machine-readable reason in CamelCase, such as "NotFound". */
  readonly reason: string;
  readonly serverMessage: string;
  readonly retryAfterMs?: number | undefined;
  readonly details?: Status["details"] | undefined;
}

/** An error response of the server. Message: "patch deployments/web in default: 403 Forbidden: …". */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** The reason in CamelCase (https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#StatusReason). */
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
