// The client of one API server: requests, responses and connections over HTTP/1.1 and HTTP/2. Knows no kind of object, and logs nothing but
// reachability.
import { collectGarbageAfter } from "../../lib/garbage-collection.ts";
import { SlotPool } from "../../lib/slot-pool.ts";
import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import { ApiError } from "../api/api-failure.ts";
import type { ClusterConfig, TlsConfig } from "../config/cluster-access.ts";
import type { Credential } from "../config/credentials.ts";
import { type ApiRequest, requestInfo, requestLabels } from "./api-request.ts";
import { type Connections, createConnections } from "./connections.ts";
import { maxObjectBytes } from "./json-bytes.ts";
import {
  type ByteStream,
  byteStream,
  type Call,
  createRequestGuard,
  type OpenResponse,
  openRequest,
  type RequestGuard,
  toRequestError,
} from "./open-request.ts";
import type { Reachability } from "./reachability.ts";
import { foreignResponse, isJson, mediaTypeOf, parseResponse, readBody, toApiError } from "./response-body.ts";
import { UnprocessedError } from "./transport.ts";

/** A client of one API server. The client connects with its first request. */
export interface ApiClient {
  /**
   * Returns the parsed response. Retries once with new credentials after a 401. Retries other failures only if the server
   * cannot have seen the request.
   * @throws ApiError for an error response, ConnectionError if there is no response, the reason of the signal if it is
   * aborted.
   */
  request<T>(request: ApiRequest): Promise<T>;
  /** Returns the body of a successful response as a stream. Throws like `request`. The stream throws ConnectionError if it breaks. */
  stream(request: ApiRequest): Promise<ByteStream>;
  /** Reports whether the server does not respond now. Absent if that is not tracked. */
  readonly isUnreachable?: (() => boolean) | undefined;
  /** Closes all connections. Running requests fail with ConnectionError. */
  close(): Promise<void>;
}

/** Options of {@link createApiClient}. The client logs nothing: callers report its errors. */
export interface ApiClientOptions extends Pick<ProcessContext, "clock"> {
  /** Counts the requests. Default: nothing does. */
  readonly metrics?: ProcessContext["metrics"];
  readonly config: ClusterConfig;
  readonly userAgent: string;
  /** Receives each response and each failure. Default: none. */
  readonly reachability?: Reachability;
  /** Collects the garbage of long responses. Default: the function of V8, if exposed. */
  readonly collect?: () => void;
  /** Opens connections. Default: TCP and TLS. A simulation has its own network. */
  readonly connect?: typeof createConnections;
}

/** What opens a connection and authenticates a request on it. */
interface Access {
  readonly tls: TlsConfig;
  readonly credential: Credential;
}

const defaultTimeoutMs = 30_000;

/** Maximum response that requests read concurrently. A longer response to a GET is requested again, one at a time. */
const shortResponseBytes = 128 * 1024;

/** Bytes of long responses between two garbage collections. A collection takes about 15 ms. */
const collectAfterBytes = 4 * 1024 * 1024;

/** Creates a client that connects with its first request. contributing/adr/0004-api-client.md has the reasons for an own client. */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const { config, clock, metrics, userAgent, reachability, connect = createConnections } = options;
  const requests = metrics?.counter(clusterMetrics.requests);
  // A server behind a gateway may have a base path, such as https://gateway/clusters/a.
  const root = config.server.pathname.replace(/\/$/, "");
  let connections: Connections | undefined;
  let connectedBy: Access | undefined;

  const currentAccess = async (): Promise<Access> => {
    const credential = await config.credentials.current();
    return { tls: await config.tls.current(), credential };
  };

  /** Returns another access to try after a 401; undefined if there is none. */
  const renewed = async ({ tls, credential }: Access): Promise<Access | undefined> => {
    const [newCredential, newTls] = await Promise.all([config.credentials.renew(credential), config.tls.renew(tls)]);
    if (newCredential === undefined && newTls === undefined) return undefined;
    return { tls: newTls ?? tls, credential: newCredential ?? credential };
  };

  /** Returns the connections for an access. Other certificates need other connections. */
  const connectionsFor = (access: Access): Connections => {
    const { tls, credential } = access;
    const isSame = connectedBy?.tls === tls && connectedBy.credential.certificate === credential.certificate;
    if (connections === undefined || !isSame) {
      connections?.close();
      connectedBy = access;
      connections = connect(config.server, { ...tls, ...credential.certificate }, { clock, proxy: config.proxy });
    }
    return connections;
  };

  const sendOnce = async (call: Call, access: Access) => {
    const { request, longLived, guard } = call;
    const connections = connectionsFor(access);
    let transport = connections.withRoom(longLived);
    // Many requests may wait for one connection. Those that do not fit open the next one.
    for (; transport === undefined; transport = connections.withRoom(longLived)) {
      await orCancelled(connections.connect(longLived), guard);
    }
    if (request.mayBeSent?.() === false) throw new Error("the request may no longer be sent");
    const headers = { ...access.credential.headers, ...config.impersonation, "user-agent": userAgent };
    return openRequest(transport, root + request.path, headers, call);
  };

  /** Retries only requests that the server cannot have executed. */
  const send = async (call: Call, access: Access) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await sendOnce(call, access);
      } catch (error) {
        if (!(error instanceof UnprocessedError) || attempt === 3) throw error;
      }
    }
  };

  const authenticated = async (call: Call): Promise<OpenResponse> => {
    const access = await orCancelled(currentAccess(), call.guard);
    const opened = await send(call, access);
    if (opened.response.status !== 401) return opened;
    const other = await orCancelled(renewed(access), call.guard);
    if (other === undefined) return opened;
    discard(opened);
    return send(call, other);
  };

  /** Returns a response with status 2xx. Throws the error of any other response. */
  const successful = async (call: Call) => {
    const opened = await authenticated(call);
    const { response } = opened;
    const { request, info } = call;
    if (response.status >= 200 && response.status < 300) {
      if (isJson(response) || mediaTypeOf(response) === request.accept) return opened;
      discard(opened);
      throw foreignResponse(info.text, response);
    }
    throw toApiError(info.text, response, (await readBody(response, maxObjectBytes)) ?? Buffer.alloc(0), clock);
  };

  /** Runs one request, counts it and converts its errors. */
  const guarded = async <T>(
    request: ApiRequest,
    longLived: boolean,
    read: (opened: OpenResponse, call: Call) => Promise<T>,
  ): Promise<T> => {
    const guard = createRequestGuard(clock, request.timeoutMs ?? defaultTimeoutMs, request.signal);
    const info = requestInfo(request);
    const call = { request, info, longLived, guard };
    try {
      const opened = await successful(call);
      reachability?.accepted();
      const result = await read(opened, call);
      requests?.inc(requestLabels(info, opened.response.status));
      return result;
    } catch (error) {
      guard.release();
      const failure = toRequestError(error, call);
      requests?.inc(requestLabels(info, failure instanceof ApiError ? failure.status : "error"));
      // Not after the own time limit: the connection may work.
      if (guard.reason() === undefined) reachability?.failed(failure);
      throw failure;
    }
  };

  /** Returns the parsed response; undefined if it exceeds `limit` bytes and the limit is not the maximum. */
  const parsedResponse = (request: ApiRequest, limit: number) =>
    guarded(request, false, async ({ response }, { info, guard }) => {
      const body = await readBody(response, limit);
      guard.release();
      // A response that is too long is requested again later.
      if (body === undefined || body.length > shortResponseBytes) beforeReading(body?.length ?? limit);
      if (body !== undefined) return { parsed: parseResponse(body, info, response, request.digestsOf) };
      if (limit === maxObjectBytes) throw new Error(`the response exceeds ${limit / 2 ** 20} MiB`);
      return undefined;
    });
  const longResponses = new SlotPool(1);
  const beforeReading = collectGarbageAfter(collectAfterBytes, options.collect);

  return {
    request: async (request) => {
      if (request.method !== "GET") return (await parsedResponse(request, maxObjectBytes))?.parsed;
      const short = await parsedResponse(request, shortResponseBytes);
      if (short !== undefined) return short.parsed;
      const { signal = new AbortController().signal } = request;
      using _slot = await longResponses.acquire(signal);
      return (await parsedResponse(request, maxObjectBytes))?.parsed;
    },
    stream: (request) =>
      guarded(request, true, async (opened, call) => {
        call.guard.clearDeadline();
        return byteStream(opened, call, reachability);
      }),
    isUnreachable: reachability?.isUnreachable,
    close: async () => {
      reachability?.close();
      connections?.close();
    },
  };
}

/** Waits for a prerequisite of a request, but not longer than the request may take. */
function orCancelled<T>(promise: Promise<T>, guard: RequestGuard): Promise<T> {
  return new Promise((resolve, reject) => {
    promise.then(resolve, reject);
    guard.onCancel(reject);
  });
}

/** Ends a response that is not read. */
function discard({ response, cancel }: OpenResponse): void {
  response.body.once("error", () => {}); // the rest of the discarded response
  cancel(new Error(`the response with status ${response.status} is not read`));
}
