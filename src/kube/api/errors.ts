import type { Status } from "./api-types.ts";

/** What an {@link ApiError} is made of. */
export interface ApiErrorFields {
  /** What was asked, such as "patch deployments/web in default". */
  readonly request: string;
  readonly status: number;
  /** CamelCase for machines, such as "NotFound". */
  readonly reason: string;
  /** The server's own words. */
  readonly serverMessage: string;
  readonly retryAfterMs?: number | undefined;
  readonly details?: Status["details"] | undefined;
}

/** The server answered, and with a failure. Message: "patch deployments/web in default: 403 Forbidden: …". */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The HTTP status. */
  readonly status: number;
  /** The reason in CamelCase (https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#StatusReason). */
  readonly reason: string;
  /** The server's own words, without what was asked. */
  readonly serverMessage: string;
  /** How long the server asks to wait before the next try; undefined where it does not say. */
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

/** The server could not be reached, the connection broke, or no answer came in time: it may or may not have acted. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/** The kubeconfig or the Pod's surroundings do not say how to reach a cluster. One line that says where and what to do. */
export class ClusterConfigError extends Error {
  override readonly name = "ClusterConfigError";
}

function hasStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status;
}

/** 401: the credentials were not accepted. */
export const isUnauthorized = (error: unknown): error is ApiError => hasStatus(error, 401);
/** 403: not allowed by RBAC or refused by admission. */
export const isForbidden = (error: unknown): error is ApiError => hasStatus(error, 403);
/** 404: the object, or the kind of object, does not exist. */
export const isNotFound = (error: unknown): error is ApiError => hasStatus(error, 404);
/** 409 on a create: an object of this name exists. */
export const isAlreadyExists = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason === "AlreadyExists";
/** 409 on a write: the object is newer than the one that the write was made from. */
export const isConflict = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason !== "AlreadyExists";
/** 410: the resourceVersion or the page asked for is no longer kept. */
export const isGone = (error: unknown): error is ApiError => hasStatus(error, 410);
/** 422: the object is not valid, or a `test` of a JSON Patch failed. */
export const isInvalid = (error: unknown): error is ApiError => hasStatus(error, 422);
