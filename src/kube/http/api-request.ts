import type { DigestedKind } from "./value-digests.ts";

/** One request to the API server. The client adds the credentials, and the base path of the server. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path from the root of the server. See `resourcePath`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Requested media type of the response. Default "application/json". A response of another type is an error, unless it is JSON. */
  readonly accept?: string;
  /** Default "application/json"; for PATCH "application/json-patch+json" if the body is an array, otherwise merge-patch. */
  readonly contentType?: string;
  /** The kind of the objects in the response, which then has digests in place of their values: see `digestValues`. Default: values. */
  readonly digestsOf?: DigestedKind | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Called immediately before the request is sent. That may be long after `request` was called, if credentials or a connection
   * are needed first. If it returns false, the request is not sent and fails, with the reason of the signal if that is aborted.
   */
  readonly mayBeSent?: (() => boolean) | undefined;
  /** Time limit for the whole response, in milliseconds; for `stream` until the response begins. Default 30,000. */
  readonly timeoutMs?: number;
}
