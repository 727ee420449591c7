import { errorText } from "../../telemetry/logging/error-text.ts";
import { apiFailureOf } from "./api-failure.ts";
import type { ApiError } from "./errors.ts";

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
