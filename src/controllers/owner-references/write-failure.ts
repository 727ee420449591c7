import { apiFailureOf, retryAfterMs as retryAfterMsOf } from "../../kube/api/api-failure.ts";

/** What a request that failed means for the next try. */
export interface OwnerWriteFailure {
  /** What the metrics count it as. */
  readonly result: "conflict" | "refused" | "unavailable";
  /** How long to wait at most between tries. */
  readonly maxMs: number;
  /** How long the API server asks to wait. */
  readonly retryAfterMs: number;
}

/** A longer Retry-After is ignored, in milliseconds: it comes from a proxy, and would stop Wave for hours. */
const maxRetryAfterMs = 60_000;

/**
 * 422 is a `test` that failed, 409 an object that kept changing: both are edits of others. What is refused mostly stays
 * refused. Anything else says nothing about the object.
 */
export function failureOf(error: unknown): OwnerWriteFailure {
  const retryAfterMs = Math.min(retryAfterMsOf(error), maxRetryAfterMs);
  switch (apiFailureOf(error)?.type) {
    case "conflict":
    case "alreadyExists":
    case "invalid":
      return { result: "conflict", maxMs: 60_000, retryAfterMs };
    case "badRequest":
    case "forbidden":
    case "notFound":
    case "deniedByWebhook":
      return { result: "refused", maxMs: 300_000, retryAfterMs };
    default:
      return { result: "unavailable", maxMs: 15_000, retryAfterMs };
  }
}
