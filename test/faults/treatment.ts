/** A request as the proxy sees it. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly isWatch: boolean;
}

/** What happens to one request on its way to the API server and back. */
export type Treatment =
  | { readonly type: "pass" }
  /** The API server does not hear of it. */
  | { readonly type: "answer"; readonly status: number; readonly retryAfterSeconds?: number }
  /** It arrives late. */
  | { readonly type: "delay"; readonly ms: number }
  /** Nobody hears of it. */
  | { readonly type: "reset" }
  /** It is acted upon, and then the stream is reset before anything of the answer arrives. */
  | { readonly type: "lose the answer" }
  /** So much of the answer's body arrives; then the stream is reset, or ends as if that were all. */
  | { readonly type: "truncate"; readonly bytes: number; readonly cleanly: boolean }
  /** The answer stops in the middle, or before it begins, and the rest of it comes when the black hole is closed. */
  | { readonly type: "black hole"; readonly bytes: number };

/** What the API server would say with this status, as a gateway before it might. */
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
