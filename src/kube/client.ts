/** One request to the API server. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From the root of the server, see `resourcePath`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Default "application/json"; for PATCH "application/json-patch+json" where the body is an array, else merge-patch. */
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
  /** Until the whole answer is there, for `stream` until it begins. Default 30,000. */
  readonly timeoutMs?: number;
}

/** The body of an answer as it comes. Disposing of it early cancels the request. */
export interface ByteStream extends AsyncIterable<Buffer>, AsyncDisposable {}

/** The connection to an API server. */
export interface ApiClient {
  /**
   * The parsed answer. An answer 401 is tried again once with new credentials; nothing else is tried again unless the
   * server cannot have seen it.
   * @throws ApiError where the server answers with a failure, ConnectionError where no answer comes, the signal's reason
   * where it is aborted.
   */
  request<T>(request: ApiRequest): Promise<T>;
  /** A successful answer's body as it comes; throws like `request`, and ConnectionError out of the stream when it breaks. */
  stream(request: ApiRequest): Promise<ByteStream>;
  /** Ends all connections; requests under way fail with ConnectionError. */
  close(): Promise<void>;
}
