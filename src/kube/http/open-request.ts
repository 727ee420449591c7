import type { Clock } from "../../lib/clock.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { ApiError, ClusterConfigError, ConnectionError } from "../api/api-failure.ts";
import type { ApiRequest, RequestInfo } from "./api-request.ts";
import type { Reachability } from "./reachability.ts";
import { chunksOf } from "./response-body.ts";
import type { Transport, TransportResponse } from "./transport.ts";

/** A response whose body is not read yet. */
export interface OpenResponse {
  readonly response: TransportResponse;
  readonly cancel: (reason: Error) => void;
}

/** A request that runs. */
export interface Call {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  /** Whether the response is a stream. */
  readonly longLived: boolean;
  readonly guard: RequestGuard;
}

/** Sends a request and waits for the start of the response. The guard may cancel it at any time. Rejects as the transport does. */
export async function openRequest(
  transport: Transport,
  path: string,
  headers: Record<string, string | string[]>,
  { request, longLived, guard }: Call,
): Promise<OpenResponse> {
  const { method, query, body } = request;
  const exchange = transport.send({
    method,
    path: query === undefined ? path : path + queryString(query),
    headers: {
      ...headers,
      accept: request.accept ?? "application/json",
      ...(body !== undefined && { "content-type": request.contentType ?? contentTypeOf(method, body) }),
    },
    body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
    longLived,
  });
  guard.onCancel(exchange.cancel);
  return { response: await exchange.response, cancel: exchange.cancel };
}

function contentTypeOf(method: string, body: unknown): string {
  if (method !== "PATCH") return "application/json";
  return Array.isArray(body) ? "application/json-patch+json" : "application/merge-patch+json";
}

function queryString(query: NonNullable<ApiRequest["query"]>): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  return parameters.length === 0 ? "" : `?${parameters.join("&")}`;
}

/** The body of a response as a stream. Early disposal cancels the request. */
export interface ByteStream extends AsyncIterable<Buffer>, AsyncDisposable {
  /** When the server answered, by its own clock, in seconds since the epoch; undefined if the response does not have the time. */
  readonly answeredAt?: number | undefined;
}

/** Returns the body of an open response. The signal, the guard or the reader may end it. The loop throws what a request throws. */
export function byteStream(opened: OpenResponse, call: Call, reachability: Reachability | undefined): ByteStream {
  const end = () => {
    call.guard.release();
    if (!opened.response.body.readableEnded) opened.cancel(new Error("the response is no longer needed"));
  };
  // A connection may break between two reads, when there is no other listener.
  opened.response.body.on("error", () => {});
  const date = Date.parse(String(opened.response.headers.date)) / 1000;
  return {
    answeredAt: Number.isNaN(date) ? undefined : date,
    async *[Symbol.asyncIterator]() {
      try {
        for await (const part of chunksOf(opened.response)) {
          reachability?.responded();
          yield part;
        }
      } catch (error) {
        const failure = toRequestError(error, call);
        reachability?.failed(failure);
        throw failure;
      } finally {
        end();
      }
    },
    [Symbol.asyncDispose]: async () => end(),
  };
}

/** Cancels one request when its time limit is over or its signal is aborted. */
export type RequestGuard = ReturnType<typeof createRequestGuard>;

/** Creates a guard whose time limit starts now. */
export function createRequestGuard(clock: Clock, timeoutMs: number, signal: AbortSignal | undefined) {
  let reason: Error | undefined;
  let byCaller = false;
  const cancels: ((reason: Error) => void)[] = [];
  const end = (error: Error) => {
    if (reason !== undefined) return;
    reason = error;
    for (const cancel of cancels.splice(0)) cancel(error);
  };
  const clearDeadline = clock.timer(timeoutMs, () =>
    end(new Error(`no response within ${Math.round(timeoutMs) / 1000} s`)),
  );
  const onAbort = () => {
    byCaller = reason === undefined;
    end(signal?.reason instanceof Error ? signal.reason : new Error("aborted", { cause: signal?.reason }));
  };
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });

  return {
    /** Returns why the request must end; undefined while it may continue. */
    reason: () => reason,
    /** Reports whether the caller aborted the request, not the time limit. */
    isAbortedByCaller: () => byCaller,
    /** Calls `cancel` when there is a reason, immediately if there is one already. */
    onCancel: (cancel: (reason: Error) => void) => {
      if (reason === undefined) cancels.push(cancel);
      else cancel(reason);
    },
    /** Removes the time limit. The signal stays in effect. */
    clearDeadline,
    release: () => {
      clearDeadline();
      signal?.removeEventListener("abort", onAbort);
      cancels.length = 0;
    },
  };
}

/** Returns the error for the caller: its own abort reason, the error response, or a ConnectionError with the cause. */
export function toRequestError(error: unknown, { request, info, guard }: Call): unknown {
  if (guard.isAbortedByCaller()) return request.signal?.reason;
  const cause = guard.reason() ?? error;
  if (!isConnectionFailure(cause)) return cause;
  return new ConnectionError(`${info.text}: ${errorText(cause)}`, { cause });
}

/** A TypeError is a bug. Every other error without a class of its own is a failure of the connection. */
function isConnectionFailure(error: unknown): boolean {
  return !(error instanceof ApiError || error instanceof ClusterConfigError || error instanceof TypeError);
}
