/** A request at the proxy. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly isWatch: boolean;
}

/** The treatment of one request on its way to the API server and back. */
export type Treatment =
  | { readonly type: "pass" }
  /** The API server does not receive the request. */
  | { readonly type: "answer"; readonly status: number; readonly retryAfterSeconds?: number }
  /** The request arrives late. */
  | { readonly type: "delay"; readonly ms: number }
  /** The stream is reset before the API server receives the request. */
  | { readonly type: "reset" }
  /** The API server processes the request, and then the stream is reset before any part of the response arrives. */
  | { readonly type: "lose the answer" }
  /** This many bytes of the response body arrive. Then the stream is reset, or ends as if the response were complete. */
  | { readonly type: "truncate"; readonly bytes: number; readonly cleanly: boolean }
  /** The response stops in the middle, or before it begins, and the rest arrives when the black hole is closed. */
  | { readonly type: "black hole"; readonly bytes: number };

/** Returns a response of the API server with this status, as a gateway in front of it could send. */
export function statusBody(status: number): string {
  const reasons: Readonly<Record<number, string>> = {
    403: "Forbidden",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
  };
  return JSON.stringify({
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    message: "a test said so",
    reason: reasons[status],
    code: status,
  });
}
