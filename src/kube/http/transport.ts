import type { Readable } from "node:stream";

/** One HTTP request, whichever version of HTTP carries it. */
export interface TransportRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer | undefined;
  /** Whether the answer goes on for long, as a watch does. */
  readonly longLived: boolean;
}

/** An answer whose body is still to be read. */
export interface TransportResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
  /** Whether a body that has ended was whole: over HTTP/2 one that breaks off may end as if it were. */
  readonly isComplete: () => boolean;
}

/** A request under way. */
export interface Exchange {
  /** Rejects where no answer came; `unprocessed` tells whether the server certainly did nothing. */
  readonly response: Promise<TransportResponse>;
  /** Gives up: the answer rejects with `reason`, or its body breaks off. */
  readonly cancel: (reason: Error) => void;
}

/** Carries requests to one server. */
export interface Transport {
  readonly send: (request: TransportRequest) => Exchange;
  /** Ends all connections; what is under way fails. */
  readonly close: () => void;
}

/** A request that failed before the server acted on it: it may be sent again whatever it asks. */
export class UnprocessedError extends Error {
  override readonly name = "UnprocessedError";
}
