import { ApiError, isForbidden } from "../kube/api/errors.ts";
import type { ApiClient } from "../kube/http/client.ts";
import { type Clock, sleep } from "../lib/clock.ts";
import { backoffMs } from "../runtime/backoff.ts";
import { errorText } from "../telemetry/logging/error-text.ts";
import type { Logger } from "../telemetry/logging/log.ts";

/** The first contact with the API server. */
export interface Connection {
  /** Undefined once the server has answered, before that why it has not, in one line. */
  readonly problem: () => string | undefined;
  /**
   * Asks until the server answers and accepts who asks; resolves with its version, or with undefined where this user
   * may not ask for it. Logs each new reason why not, and the same one again every 5 to 15 s. Rejects only with the
   * signal's reason.
   */
  readonly establish: (signal: AbortSignal) => Promise<string | undefined>;
}

/** More than once in 25 s: who looks at the log sees it. */
const sayAgainMs = 5_000;

/**
 * Without this, an API server that cannot be reached would be told of by every list and watch on its own.
 * `server` is how messages name it.
 */
export function createConnection(options: {
  readonly client: Pick<ApiClient, "request">;
  readonly server: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
}): Connection {
  const { client, server, clock, log, random = Math.random } = options;
  let problem: string | undefined = `the API server ${server} has not answered yet`;

  const establish = async (signal: AbortSignal): Promise<string | undefined> => {
    let saidAt = -Infinity;
    for (let attempt = 0; ; attempt++) {
      try {
        const { gitVersion } = await client.request<{ readonly gitVersion?: string }>({
          method: "GET",
          path: "/version",
          timeoutMs: 10_000,
          signal,
        });
        problem = undefined;
        return gitVersion;
      } catch (error) {
        signal.throwIfAborted();
        if (isForbidden(error)) {
          problem = undefined;
          return undefined;
        }
        const reason = whyNot(server, error);
        if (reason !== problem || clock.monotonic() - saidAt >= sayAgainMs) {
          log.error(`${reason}; trying again until it does`);
          saidAt = clock.monotonic();
        }
        problem = reason;
      }
      await sleep(clock, backoffMs(attempt, { baseMs: 500, maxMs: 10_000, random }), signal);
    }
  };
  return { problem: () => problem, establish };
}

function whyNot(server: string, error: unknown): string {
  if (!(error instanceof ApiError)) return `the API server ${server} cannot be reached: ${errorText(error)}`;
  if (error.status === 401) return `the API server ${server} does not accept the credentials: ${errorText(error)}`;
  return `the API server ${server} does not answer: ${errorText(error)}`;
}
