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
  /**
   * Asked at the moment at which it is sent, which comes long after `request` was called where there are credentials to be
   * fetched or a connection to be made first. False: it is not sent, and fails with the signal's reason if that is aborted.
   */
  readonly mayBeSent?: (() => boolean) | undefined;
  /** Until the whole answer is there, for `stream` until it begins. Default 30,000. */
  readonly timeoutMs?: number;
}
