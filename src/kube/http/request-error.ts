import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { LabelsOf } from "../../telemetry/metrics/metric-row.ts";
import { ApiError, ClusterConfigError, ConnectionError } from "../api/errors.ts";
import type { RequestGuard } from "./request-guard.ts";
import type { RequestInfo } from "./request-info.ts";

/** What the caller is told: its own reason to give up, the server's failure, or that the connection failed and why. */
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

/** A TypeError is a bug; everything else that a request can fail with, and that no class of ours names, is the connection's. */
function isConnectionFailure(error: unknown): boolean {
  return !(error instanceof ApiError || error instanceof ClusterConfigError || error instanceof TypeError);
}

/** The labels of `wave_api_requests_total`. */
export type RequestLabels = LabelsOf<typeof clusterMetrics.requests>;

const { verb: verbs, code: codes } = clusterMetrics.requests.labels;

/** How a request is counted, whatever the server answered to it: by labels that are known beforehand. */
export function requestLabels({ verb }: Pick<RequestInfo, "verb">, code: string): RequestLabels {
  return {
    verb: verbs.find((known) => known === verb) ?? "other",
    code: codes.find((known) => known === code) ?? "other",
  };
}

/** What the metrics call a failure: the status that the server answered with, or "error" where it did not. */
export function statusLabel(failure: unknown): string {
  return failure instanceof ApiError ? String(failure.status) : "error";
}
