import { ApiError, isForbidden, isUnauthorized } from "../kube/api/api-failure.ts";
import type { ApiClient } from "../kube/http/client.ts";
import { sleep } from "../lib/clock.ts";
import { backoffMs } from "../runtime/timers.ts";
import { errorText, logMessages } from "../telemetry/logging/log-messages.ts";
import type { ProcessContext } from "../telemetry/process-context.ts";

/** The first contact with the API server. */
export type Connection = ReturnType<typeof createConnection>;

/** Minimum time between two log lines of the same failure. It is shorter than the shutdown timeout, so short logs contain it. */
const relogMs = 5_000;

/** Creates the first connection. Without it, every list and watch would log an unreachable API server separately. */
export function createConnection(
  server: string,
  client: Pick<ApiClient, "request">,
  { clock, log, random }: Pick<ProcessContext, "clock" | "log" | "random">,
) {
  let problem: string | undefined = `the API server ${server} has not answered yet`;

  /**
   * Sends requests until the server answers and accepts the credentials. Resolves with its version, or with undefined if this
   * user may not read it. Logs each new failure at once, and the same failure again every 5 to 15 s. Rejects only with the
   * reason of the signal.
   */
  const establish = async (signal: AbortSignal): Promise<string | undefined> => {
    let loggedAt = -Infinity;
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
        const reason = connectionProblem(server, error);
        if (reason !== problem || clock.monotonic() - loggedAt >= relogMs) {
          log.error(logMessages.apiServerUnavailable(reason));
          loggedAt = clock.monotonic();
        }
        problem = reason;
      }
      await sleep(clock, backoffMs(attempt, { baseMs: 500, maxMs: 10_000, random }), signal);
    }
  };
  return {
    /** Returns undefined after the server has answered, before that the reason in one line. */
    problem: () => problem,
    establish,
  };
}

function connectionProblem(server: string, error: unknown): string {
  if (!(error instanceof ApiError)) return connectionTexts.unreachable(server, errorText(error));
  return connectionTexts[isUnauthorized(error) ? "unauthorized" : "failing"](server, errorText(error));
}

/** Why Wave is not connected to the API server. docs/events.md is made from this table. */
export const connectionTexts = {
  unreachable: (server: string, cause: string) => `cannot reach the API server ${server}: ${cause}`,
  unauthorized: (server: string, cause: string) => `the API server ${server} does not accept the credentials: ${cause}`,
  failing: (server: string, cause: string) => `the API server ${server} responds with an error: ${cause}`,
} as const;
