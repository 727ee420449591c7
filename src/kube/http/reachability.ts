import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import { ApiError, ClusterConfigError, ConnectionError, isUnauthorized } from "../api/api-failure.ts";

/** Tracks whether the API server responds at all and accepts the credentials, and reports it once for all requests. */
export type Reachability = ReturnType<typeof createReachability>;

/** Delay of the first report: a single broken connection is normal. */
const reportAfterMs = 3_000;
/** Interval of the reports, so that a recent log always has one. */
const reportEveryMs = 10_000;

/** Duration of failures after which a restart may help. */
const restartAfterMs = 300_000;

/** Failed requests. Times are those of the monotonic clock. */
interface Failures {
  readonly since: number;
  last: number;
  /** Text of the last error. */
  error: string;
}

interface Outage extends Failures {
  reported: boolean;
  cancel: () => void;
}

/**
 * Reports a server that has responded before and no longer does, in `wave_api_server_reachable` and in the log: one line for
 * all watches and workloads, repeated every 10 s. The first connection reports a server that never responded.
 */
export function createReachability(
  server: string,
  { clock, log, metrics }: Pick<ProcessContext, "clock" | "log" | "metrics">,
) {
  let hasResponded = false;
  let outage: Outage | undefined;
  let refusal: Failures | undefined;
  const gauge = metrics.gauge(clusterMetrics.reachable);
  gauge.collect(() => gauge.set(hasResponded && outage === undefined ? 1 : 0));
  const seconds = ({ since }: Failures) => Math.round((clock.monotonic() - since) / 1_000);

  const report = (of: Outage) => {
    log.error(logMessages.apiServerSilent, { server, forSeconds: seconds(of), error: of.error });
    of.reported = true;
    of.cancel = clock.timer(reportEveryMs, () => report(of));
  };
  const first = (): Failures => ({ since: clock.monotonic(), last: 0, error: "" });
  const add = (failures: Failures, error: unknown) => {
    failures.last = clock.monotonic();
    failures.error = errorText(error);
  };
  const begin = (): Outage => {
    const begun: Outage = { ...first(), reported: false, cancel: () => {} };
    begun.cancel = clock.timer(reportAfterMs, () => report(begun));
    return begun;
  };
  /** Records that data arrived from the server, for a request that it has accepted before. */
  const responded = () => {
    hasResponded = true;
    if (outage === undefined) return;
    outage.cancel();
    if (outage.reported) log.info("the API server responds again", { server, afterSeconds: seconds(outage) });
    outage = undefined;
  };
  /** Records that the server has accepted a request. */
  const accepted = () => {
    refusal = undefined;
    responded();
  };

  return {
    responded,
    accepted,
    /**
     * Records that a request failed: by an error response, by the connection, or because the caller aborted it. Do not call it
     * for a request that was only too slow: a webhook that hangs does not mean that the server is unreachable.
     */
    failed: (error: unknown) => {
      if (isUnauthorized(error) || error instanceof ClusterConfigError) {
        if (error instanceof ApiError) responded();
        refusal ??= first();
        add(refusal, error);
      } else if (isNoResponse(error)) {
        if (!hasResponded) return;
        outage ??= begin();
        add(outage, error);
      } else if (error instanceof ApiError) accepted();
    },
    /** Returns why to restart this process: for 5 minutes, all requests got 401 or, after a first response, none. Else undefined. */
    problem: () => {
      const failures = outage ?? refusal;
      if (failures === undefined || failures.last - failures.since < restartAfterMs) return undefined;
      return `no request to ${server} has succeeded for ${seconds(failures)}s: ${failures.error}`;
    },
    /** Reports whether the server does not respond now. */
    isUnreachable: () => outage !== undefined,
    close: () => outage?.cancel(),
  };
}

/** Reports whether there was no response, or only that of a proxy without a server. The API server sends a reason with its own. */
function isNoResponse(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof ApiError && error.reason === "" && [502, 503, 504].includes(error.status);
}
