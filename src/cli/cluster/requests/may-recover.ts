import { apiFailureOf } from "../../../kube/api/api-failure.ts";

/** Returns whether a read that failed may succeed later: the API server is unreachable or busy. */
export function mayRecover(error: unknown): boolean {
  const type = apiFailureOf(error)?.type;
  return type === "unavailable" || type === "tooManyRequests";
}
