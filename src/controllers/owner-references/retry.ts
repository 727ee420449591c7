import { ApiError } from "../../kube/api/errors.ts";

/** What a request that failed means for the next try. */
export interface Failure {
  /** What the metrics count it as. */
  readonly result: "conflict" | "refused" | "unavailable";
  /** How long to wait at most between tries. */
  readonly maxMs: number;
  /** How long the API server asks to wait. */
  readonly retryAfterMs: number;
}

/** What asks for a day is something in between, and would stop Wave for a day. */
const longestRetryAfterMs = 60_000;

/**
 * 422 is a `test` that failed, 409 an object that kept changing: both are edits of others. What is refused mostly stays
 * refused. Anything else says nothing about the object.
 */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof ApiError)) return { result: "unavailable", maxMs: 15_000, retryAfterMs: 0 };
  const retryAfterMs = Math.min(error.retryAfterMs ?? 0, longestRetryAfterMs);
  switch (error.status) {
    case 409:
    case 422:
      return { result: "conflict", maxMs: 60_000, retryAfterMs };
    case 400:
    case 403:
    case 404:
    case 413:
      return { result: "refused", maxMs: 300_000, retryAfterMs };
    default:
      return { result: "unavailable", maxMs: 15_000, retryAfterMs };
  }
}
