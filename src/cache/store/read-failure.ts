import { ApiError } from "../../kube/api/errors.ts";

/** A server that asks to come back much later is asked again all the same. */
const longestAskedMs = 300_000;

/** Whether a server, or the way to it, failed: anything else is a bug. */
export function isReadFailure(error: unknown): boolean {
  return error instanceof Error && ["ApiError", "ConnectionError", "ClusterConfigError"].includes(error.name);
}

/** How many milliseconds the server asks to wait. */
export function askedMs(error: unknown): number {
  return error instanceof ApiError ? Math.min(error.retryAfterMs ?? 0, longestAskedMs) : 0;
}
