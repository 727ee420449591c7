import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { LabelsOf } from "../../telemetry/metrics/metric-row.ts";
import { ApiError, ClusterConfigError, ConnectionError } from "../api/errors.ts";
import type { RequestGuard } from "./request-guard.ts";
import type { RequestInfo } from "./request-info.ts";

/** Returns the error for the caller: its own abort reason, the error response, or a ConnectionError with the cause. */
export function toRequestError(
  error: unknown,
  info: RequestInfo,
  guard: RequestGuard,
  signal: AbortSignal | undefined,
): unknown {
  if (guard.isAbortedByCaller()) return signal?.reason;
  const cause = guard.reason() ?? error;
  if (!isConnectionFailure(cause)) return cause;
  return new ConnectionError(`${info.text}: ${errorText(cause)}`, { cause });
}

/** A TypeError is a bug. Every other error without a class of its own is a failure of the connection. */
function isConnectionFailure(error: unknown): boolean {
  return !(error instanceof ApiError || error instanceof ClusterConfigError || error instanceof TypeError);
}

/** The labels of `wave_api_requests_total`. */
export type RequestLabels = LabelsOf<typeof clusterMetrics.requests>;

const { verb: verbs, code: codes } = clusterMetrics.requests.labels;

/** Returns the metric labels of a request. All values are known in advance. */
export function requestLabels({ verb }: Pick<RequestInfo, "verb">, code: string): RequestLabels {
  return {
    verb: verbs.find((known) => known === verb) ?? "other",
    code: codes.find((known) => known === code) ?? "other",
  };
}

/** Returns the status of an error response; "error" if there was no response. */
export function statusLabel(failure: unknown): string {
  return failure instanceof ApiError ? String(failure.status) : "error";
}
