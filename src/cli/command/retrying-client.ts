import { apiFailureOf } from "../../kube/api/api-failure.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { type Clock, longestTimerMs, sleep } from "../../lib/clock.ts";

/** Time after the first busy response in which a command sends requests again, in milliseconds. */
const retryForMs = 30_000;
/** Wait after a 429 without Retry-After, in milliseconds. */
const defaultWaitMs = 1_000;

/**
 * Returns a client that waits and sends a request again while the API server is busy, as kubectl does. All requests together retry for at
 * most 30 s, and a request with a time limit not longer than that. Never repeats a write that the API server may have executed.
 * `requestTimeoutMs` limits each request that has no limit of its own; 0: no limit; undefined: the limit of the client.
 */
export function retryingClient(client: ApiClient, clock: Clock, requestTimeoutMs?: number): ApiClient {
  const limited = (request: ApiRequest): ApiRequest =>
    requestTimeoutMs === undefined ? request : { timeoutMs: requestTimeoutMs || longestTimerMs, ...request };
  let until: number | undefined;
  const retry = async <T>({ method, timeoutMs, signal }: ApiRequest, send: () => Promise<T>): Promise<T> => {
    const ownUntil = clock.monotonic() + (timeoutMs ?? retryForMs);
    for (;;) {
      try {
        return await send();
      } catch (error) {
        const waitMs = waitMsOf(method, error);
        if (waitMs === undefined) throw error;
        until ??= clock.monotonic() + retryForMs;
        if (clock.monotonic() + waitMs > Math.min(until, ownUntil)) throw error;
        await sleep(clock, waitMs, signal);
      }
    }
  };
  return {
    ...client,
    request: (request) => retry(request, () => client.request(limited(request))),
    stream: (request) => retry(request, () => client.stream(limited(request))),
  };
}

/** Returns the wait before the next try; undefined if a retry is no help, or could write twice. */
function waitMsOf(method: ApiRequest["method"], error: unknown): number | undefined {
  const failure = apiFailureOf(error);
  if (failure?.type === "tooManyRequests") return failure.retryAfterMs || defaultWaitMs;
  const mayRepeat = failure?.type === "unavailable" && (method === "GET" || !failure.mayBeDone);
  return mayRepeat && failure.retryAfterMs > 0 ? failure.retryAfterMs : undefined;
}
