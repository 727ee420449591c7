import type { Clock } from "../../lib/clock.ts";
import { GarbageCollection } from "../../lib/garbage-collection.ts";
import { SlotPool } from "../../lib/slot-pool.ts";
import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import type { ClusterConfig } from "../config/cluster-access.ts";
import type { Credential } from "../config/credentials.ts";
import type { ApiRequest } from "./api-request.ts";
import { type ByteStream, byteStream } from "./byte-stream.ts";
import { maxObjectBytes } from "./chunk-buffer.ts";
import { type Connections, createConnections } from "./connections.ts";
import type { PingSettings } from "./http2-transport.ts";
import { withoutBulkyFields } from "./large-json.ts";
import { type OpenResponse, openRequest } from "./open-request.ts";
import type { Reachability } from "./reachability.ts";
import { requestLabels, statusLabel, toRequestError } from "./request-error.ts";
import { createRequestGuard, type RequestGuard } from "./request-guard.ts";
import { type RequestInfo, requestInfo } from "./request-info.ts";
import { readBody, toApiError } from "./response-body.ts";
import { UnprocessedError } from "./transport.ts";

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
  /** Whether the last that was heard of the server is that it does not answer; absent where nobody looks. */
  readonly isUnreachable?: (() => boolean) | undefined;
  /** Ends all connections; requests under way fail with ConnectionError. */
  close(): Promise<void>;
}

/** What a client is made from. It logs nothing: its errors are its callers' to tell. */
export interface ApiClientOptions {
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly metrics: MetricsRegistry;
  readonly userAgent: string;
  readonly ping?: PingSettings;
  /** Told of every answer and every failure. Default: nobody. */
  readonly reachability?: Reachability;
  /** Frees what long answers left. Default: V8's own, where it is exposed. */
  readonly collect?: () => void;
  /** What carries requests. Default: TCP and TLS; a simulation has a network of its own. */
  readonly connect?: typeof createConnections;
}

/** Of one try. */
const defaultTimeoutMs = 30_000;

/** What many requests may read at one time. Of longer answers to a GET one is: they are asked for again, in a row. */
const shortAnswerBytes = 128 * 1024;

/** Bytes of longer answers that are read before what those before left is collected; a collection takes some 15 ms. */
const collectAfterBytes = 4 * 1024 * 1024;

/** A connection whose peer is gone without a word is given up after 6 s at most. */
const defaultPing: PingSettings = { intervalMs: 3_000, timeoutMs: 3_000 };

/** A client that connects with its first request. See docs/adr/0004-api-client.md for why it is our own. */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const { config, clock, metrics, userAgent, reachability, ping = defaultPing, connect = createConnections } = options;
  const requests = metrics.counter(clusterMetrics.requests);
  // A server behind a gateway may have a path of its own, as https://gateway/clusters/a.
  const root = config.server.pathname.replace(/\/$/, "");
  let connections: Connections | undefined;
  let certificate: Credential["certificate"];

  /** The connections for a credential: others where it brings another client certificate. */
  const connectionsFor = (credential: Credential): Connections => {
    if (connections === undefined || credential.certificate !== certificate) {
      connections?.close();
      certificate = credential.certificate;
      connections = connect(config.server, { ...config.tls, ...certificate }, { clock, ping });
    }
    return connections;
  };

  const sendOnce = async (request: ApiRequest, credential: Credential, longLived: boolean, guard: RequestGuard) => {
    const connections = connectionsFor(credential);
    let transport = connections.withRoom(longLived);
    // Of the many that may wait for one connection, those for whom it has no room make the next.
    for (; transport === undefined; transport = connections.withRoom(longLived)) {
      await orCancelled(connections.connect(), guard);
    }
    if (request.mayBeSent?.() === false) throw new Error("it may no longer be sent");
    return openRequest(
      transport,
      root + request.path,
      request,
      { ...credential.headers, "user-agent": userAgent },
      longLived,
      guard,
    );
  };

  /** Sends again only what the server cannot have acted upon. */
  const send = async (request: ApiRequest, credential: Credential, longLived: boolean, guard: RequestGuard) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await sendOnce(request, credential, longLived, guard);
      } catch (error) {
        if (!(error instanceof UnprocessedError) || attempt === 3) throw error;
      }
    }
  };

  const authenticated = async (request: ApiRequest, longLived: boolean, guard: RequestGuard): Promise<OpenResponse> => {
    const credential = await orCancelled(config.credentials.current(), guard);
    const opened = await send(request, credential, longLived, guard);
    if (opened.response.status !== 401) return opened;
    const renewed = await orCancelled(config.credentials.renew(credential), guard);
    if (renewed === undefined) return opened;
    opened.response.body.once("error", () => {}); // what follows the answer that is not wanted
    opened.cancel(new Error("answered 401"));
    return send(request, renewed, longLived, guard);
  };

  /** An answer 2xx, or the error that it is. */
  const successful = async (request: ApiRequest, info: RequestInfo, longLived: boolean, guard: RequestGuard) => {
    const opened = await authenticated(request, longLived, guard);
    const { response } = opened;
    if (response.status >= 200 && response.status < 300) return opened;
    throw toApiError(info.text, response, (await readBody(response, maxObjectBytes)) ?? Buffer.alloc(0), clock);
  };

  /** Runs one request from beginning to end; counts it and makes its errors readable. */
  const guarded = async <T>(
    request: ApiRequest,
    longLived: boolean,
    read: (opened: OpenResponse, info: RequestInfo, guard: RequestGuard) => Promise<T>,
  ): Promise<T> => {
    const guard = createRequestGuard(clock, request.timeoutMs ?? defaultTimeoutMs, request.signal);
    const info = requestInfo(request);
    try {
      const opened = await successful(request, info, longLived, guard);
      reachability?.responded();
      const result = await read(opened, info, guard);
      requests.inc(requestLabels(info, String(opened.response.status)));
      return result;
    } catch (error) {
      guard.release();
      const failure = toRequestError(error, info, guard, request.signal);
      requests.inc(requestLabels(info, statusLabel(failure)));
      // Not where its own time was up: the connection may be well.
      if (guard.reason() === undefined) reachability?.failed(failure);
      throw failure;
    }
  };

  /** The parsed answer; undefined where it is longer than `limit` bytes, and that is not all that there can be. */
  const answerOf = (request: ApiRequest, limit: number) =>
    guarded(request, false, async ({ response }, _info, guard) => {
      const body = await readBody(response, limit);
      guard.release();
      // What is given up has been read so far, and the whole of it is read later.
      if (body === undefined || body.length > shortAnswerBytes) garbage.beforeReading(body?.length ?? limit);
      if (body !== undefined) return { parsed: parseAnswer(body) };
      if (limit === maxObjectBytes)
        throw new Error(`the answer is longer than any object: more than ${limit / 2 ** 20} MiB`);
      return undefined;
    });
  const long = new SlotPool(1);
  const garbage = new GarbageCollection(collectAfterBytes, options.collect);

  return {
    request: async (request) => {
      const short = request.method === "GET" ? await answerOf(request, shortAnswerBytes) : undefined;
      if (short !== undefined) return short.parsed;
      const { signal = new AbortController().signal } = request;
      using _place = request.method === "GET" ? await long.acquire(signal) : undefined;
      return (await answerOf(request, maxObjectBytes))?.parsed;
    },
    stream: (request) =>
      guarded(request, true, async (opened, info, guard) => {
        guard.clearDeadline();
        return byteStream(opened, info, guard, { signal: request.signal, reachability });
      }),
    isUnreachable: reachability?.isUnreachable,
    close: async () => {
      reachability?.close();
      connections?.close();
    },
  };
}

/** Waits for what a request needs first, but no longer than the request may take. */
function orCancelled<T>(promise: Promise<T>, guard: RequestGuard): Promise<T> {
  return new Promise((resolve, reject) => {
    promise.then(resolve, reject);
    guard.onCancel(reject);
  });
}

function parseAnswer(body: Buffer) {
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(withoutBulkyFields(body).toString());
  } catch {
    // The parser's message would quote what it read, which may be a Secret.
    throw new Error("the answer is not JSON");
  }
}
