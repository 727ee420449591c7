import type { Clock } from "../../lib/clock.ts";
import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { ApiError, ConnectionError } from "../api/errors.ts";

/** Whether the API server answers at all: told once for everything that asks it. */
export interface Reachability {
  /** Something came from the server. */
  readonly responded: () => void;
  /**
   * A request failed: the server answered so, the connection failed, or its caller gave up. Not to be told of one that
   * was only too slow: a webhook that hangs is none of the server's silence.
   */
  readonly failed: (error: unknown) => void;
  /** Whether the last that was heard of the server is that it does not answer. */
  readonly isUnreachable: () => boolean;
  /** Says nothing more. */
  readonly close: () => void;
}

/** One broken connection is an ordinary day: what lasts as long as this is told. */
const sayAfterMs = 3_000;
/** More than once in 25 s, so that whoever looks at the log now sees it. */
const sayAgainMs = 10_000;

interface Silence {
  readonly since: number;
  /** What the last failure said. */
  error: string;
  said: boolean;
  cancel: () => void;
}

/**
 * Tells of a server that has answered before and does so no longer: in `wave_api_server_reachable`, and in the log, at once
 * for all watches and workloads, and every 10 s as long as it lasts. Of one that never answered its first contact tells.
 */
export function createReachability(options: {
  readonly server: string;
  readonly clock: Pick<Clock, "monotonic" | "timer">;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}): Reachability {
  const { server, clock, log } = options;
  let known = false;
  let silence: Silence | undefined;
  const gauge = options.metrics.gauge(clusterMetrics.reachable);
  gauge.collect(() => gauge.set(known && silence === undefined ? 1 : 0));
  const seconds = ({ since }: Silence) => Math.round((clock.monotonic() - since) / 1_000);

  const say = (of: Silence) => {
    const message = "the API server does not answer: nothing is rolled until it does";
    log.error(message, { server, forSeconds: seconds(of), error: of.error });
    of.said = true;
    of.cancel = clock.timer(sayAgainMs, () => say(of));
  };
  const begin = (): Silence => {
    const begun: Silence = { since: clock.monotonic(), error: "", said: false, cancel: () => {} };
    begun.cancel = clock.timer(sayAfterMs, () => say(begun));
    return begun;
  };
  const responded = () => {
    known = true;
    if (silence === undefined) return;
    silence.cancel();
    if (silence.said) log.info("the API server answers again", { server, afterSeconds: seconds(silence) });
    silence = undefined;
  };

  return {
    responded,
    failed: (error) => {
      if (error instanceof ApiError && !isSilence(error)) return responded();
      if (!known || !isSilence(error)) return;
      silence ??= begin();
      silence.error = errorText(error);
    },
    isUnreachable: () => silence !== undefined,
    close: () => silence?.cancel(),
  };
}

/** No answer, or that of something in between which has nobody to ask: the API server gives a reason with its own. */
function isSilence(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof ApiError && error.reason === "" && [502, 503, 504].includes(error.status);
}
