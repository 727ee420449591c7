/** One request to the API server. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From the root of the server, see `resourcePath`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** In which form the answer is wanted. Default "application/json". */
  readonly accept?: string;
  /** Default "application/json"; for PATCH "application/json-patch+json" where the body is an array, else merge-patch. */
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
  /** Until the whole answer is there, for `stream` until it begins. Default 30,000. */
  readonly timeoutMs?: number;
}
