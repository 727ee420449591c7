import type { Readable } from "node:stream";

/** One HTTP request, for any version of HTTP. */
export interface TransportRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer | undefined;
  /** Reports whether the response is long-lived, such as a watch. */
  readonly longLived: boolean;
}

/** A response whose body is not read yet. */
export interface TransportResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
  /** Reports whether an ended body is complete. Over HTTP/2 a truncated body may end normally. */
  readonly isComplete: () => boolean;
}

/** A running request. */
export interface Exchange {
  /** Rejects if there is no response, with {@link UnprocessedError} if the server certainly did nothing. */
  readonly response: Promise<TransportResponse>;
  /** Cancels: the response rejects with `reason`, or its body is truncated. */
  readonly cancel: (reason: Error) => void;
}

/** Sends requests to one server over HTTP/1.1 or HTTP/2. */
export interface Transport {
  readonly send: (request: TransportRequest) => Exchange;
  /** Closes all connections. Running requests fail. */
  readonly close: () => void;
}

/** A request failed before the server executed it. It is safe to send any such request again. */
export class UnprocessedError extends Error {
  override readonly name = "UnprocessedError";
}
