import { apiFailureOf, retryAfterMs as retryAfterMsOf } from "../../kube/api/api-failure.ts";

/** What a failed request means for the retry. */
export interface OwnerWriteFailure {
  /** The result in the metrics. */
  readonly result: "conflict" | "refused" | "unavailable";
  /** The Retry-After of the API server, in milliseconds; 0 without one. */
  readonly retryAfterMs: number;
}

/** A longer Retry-After is ignored, in milliseconds: it comes from a proxy, and would stop Wave for hours. */
const maxRetryAfterMs = 60_000;

/**
 * Returns what a failed request means. 422 is a failed `test`, and 409 is an object that kept changing: both are edits of
 * others. A refused write stays refused in most cases. Other failures say nothing about the object.
 */
export function failureOf(error: unknown): OwnerWriteFailure {
  const retryAfterMs = Math.min(retryAfterMsOf(error), maxRetryAfterMs);
  switch (apiFailureOf(error)?.type) {
    case "conflict":
    case "alreadyExists":
    case "invalid":
      return { result: "conflict", retryAfterMs };
    case "badRequest":
    case "forbidden":
    case "notFound":
    case "deniedByAdmission":
      return { result: "refused", retryAfterMs };
    default:
      return { result: "unavailable", retryAfterMs };
  }
}
