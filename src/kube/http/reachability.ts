import type { Clock } from "../../lib/clock.ts";
import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { ApiError, ConnectionError } from "../api/errors.ts";

/** Tracks whether the API server responds at all, and reports it once for all requests. */
export interface Reachability {
  /** Records that data arrived from the server. */
  readonly responded: () => void;
  /**
   * Records that a request failed: by an error response, by the connection, or because the caller aborted it. Do not call it
   * for a request that was only too slow: a webhook that hangs does not mean that the server is unreachable.
   */
  readonly failed: (error: unknown) => void;
  /** Reports whether the server does not respond now. */
  readonly isUnreachable: () => boolean;
  /** Stops the reports. */
  readonly close: () => void;
}

/** Delay of the first report: a single broken connection is normal. */
const reportAfterMs = 3_000;
/** Interval of the reports, so that a recent log always has one. */
const reportEveryMs = 10_000;

interface Outage {
  readonly since: number;
  /** Text of the last error. */
  error: string;
  reported: boolean;
  cancel: () => void;
}

/**
 * Reports a server that has responded before and no longer does, in `wave_api_server_reachable` and in the log: one line for
 * all watches and workloads, repeated every 10 s. The first connection reports a server that never responded.
 */
export function createReachability(options: {
  readonly server: string;
  readonly clock: Pick<Clock, "monotonic" | "timer">;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}): Reachability {
  const { server, clock, log } = options;
  let hasResponded = false;
  let outage: Outage | undefined;
  const gauge = options.metrics.gauge(clusterMetrics.reachable);
  gauge.collect(() => gauge.set(hasResponded && outage === undefined ? 1 : 0));
  const seconds = ({ since }: Outage) => Math.round((clock.monotonic() - since) / 1_000);

  const report = (of: Outage) => {
    log.error(logMessages.apiServerSilent, { server, forSeconds: seconds(of), error: of.error });
    of.reported = true;
    of.cancel = clock.timer(reportEveryMs, () => report(of));
  };
  const begin = (): Outage => {
    const begun: Outage = { since: clock.monotonic(), error: "", reported: false, cancel: () => {} };
    begun.cancel = clock.timer(reportAfterMs, () => report(begun));
    return begun;
  };
  const responded = () => {
    hasResponded = true;
    if (outage === undefined) return;
    outage.cancel();
    if (outage.reported) log.info("the API server responds again", { server, afterSeconds: seconds(outage) });
    outage = undefined;
  };

  return {
    responded,
    failed: (error) => {
      if (error instanceof ApiError && !isNoResponse(error)) return responded();
      if (!hasResponded || !isNoResponse(error)) return;
      outage ??= begin();
      outage.error = errorText(error);
    },
    isUnreachable: () => outage !== undefined,
    close: () => outage?.cancel(),
  };
}

/** Reports whether there was no response, or only that of a proxy without a server. The API server sends a reason with its own. */
function isNoResponse(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof ApiError && error.reason === "" && [502, 503, 504].includes(error.status);
}
