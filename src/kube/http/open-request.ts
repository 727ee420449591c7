import type { ApiRequest } from "./api-request.ts";
import type { RequestGuard } from "./request-guard.ts";
import type { Transport, TransportResponse } from "./transport.ts";

/** A response whose body is not read yet. */
export interface OpenResponse {
  readonly response: TransportResponse;
  readonly cancel: (reason: Error) => void;
}

/**
 * Sends a request with a JSON body and waits for the start of the response. `path` has no query. `guard` may cancel the
 * request at any time. Rejects as the transport does.
 */
export async function openRequest(
  transport: Transport,
  path: string,
  request: ApiRequest,
  headers: Record<string, string | string[]>,
  longLived: boolean,
  guard: RequestGuard,
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
