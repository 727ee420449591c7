import type { ClientRequest, IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { connect, type TLSSocket } from "node:tls";
import { type TlsConfig, tlsOptions } from "../config/cluster-access.ts";

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

/** Creates an HTTP/1.1 transport with keep-alive connections, for `http://` servers and servers without HTTP/2. */
export function createHttp1Transport(server: URL, tls: TlsConfig, proxy?: URL): Transport {
  // Not an ES module import, which would also load the lazy parts of node:http: 13 MiB.
  const secure = server.protocol === "https:";
  const { Agent, request } = secure ? process.getBuiltinModule("node:https") : process.getBuiltinModule("node:http");
  const agent = new Agent({ keepAlive: true, keepAliveMsecs: 5_000, ...(secure ? tlsOptions(server, tls) : {}) });
  if (proxy !== undefined) {
    agent.createConnection = (_options, callback) => {
      connectThrough(server, tls, proxy).then(
        (socket) => callback?.(null, socket),
        (error) => callback?.(error, new Socket()),
      );
      return undefined;
    };
  }

  const send = ({ method, path, headers, body }: TransportRequest): Exchange => {
    const url = new URL(path, server);
    // Without the length Node.js sends the body of a DELETE without framing, and servers respond with 400.
    const length = body && { "content-length": String(body.length) };
    const sent: ClientRequest = request(url, { method, agent, headers: { ...headers, ...length } });
    sent.setNoDelay(true);
    const response = new Promise<TransportResponse>((resolve, reject) => {
      sent.once("response", (message: IncomingMessage) =>
        resolve({
          status: message.statusCode ?? 0,
          headers: message.headers,
          body: message,
          isComplete: () => message.complete,
        }),
      );
      // The server may have closed a kept-alive connection just before, and then never saw the request. Only a request that
      // changes nothing is safe to send again.
      sent.on("error", (error) =>
        reject(sent.reusedSocket && method === "GET" ? new UnprocessedError(error.message, { cause: error }) : error),
      );
      sent.once("close", () => reject(new Error("the connection was closed before a response arrived")));
    });
    sent.end(body);
    return { response, cancel: (reason) => void sent.destroy(reason) };
  };
  return { send, close: () => agent.destroy() };
}

/** Connects through a proxy, for TLS without HTTP/2. */
async function connectThrough(server: URL, tls: TlsConfig, proxy: URL): Promise<Socket> {
  const tunnel = await openServerTunnel(server, proxy);
  return server.protocol === "https:" ? connect({ ...tlsOptions(server, tls), socket: tunnel }) : tunnel;
}

const connectTimeoutMs = 10_000;

/** Opens the tunnel to a server through a proxy. Rejects after 10 s without a response. */
async function openServerTunnel(server: URL, proxy: URL): Promise<Socket> {
  // Loaded only with a proxy.
  const { openTunnel } = await import("./proxy-tunnel.ts");
  const host = server.hostname.replace(/^\[|\]$/g, "");
  return openTunnel(
    proxy,
    { host, port: Number(server.port) || (server.protocol === "http:" ? 80 : 443) },
    connectTimeoutMs,
  );
}

/** Connects and completes the TLS handshake, with HTTP/2 preferred to HTTP/1.1. Rejects after 10 s without a response. */
export async function connectTls(server: URL, tls: TlsConfig, proxy?: URL): Promise<TLSSocket> {
  const tunnel = proxy && (await openServerTunnel(server, proxy));
  return new Promise((resolve, reject) => {
    const options = { ...tlsOptions(server, tls), ...(tunnel && { socket: tunnel }) };
    const socket = connect({ ...options, ALPNProtocols: ["h2", "http/1.1"] });
    socket.setNoDelay(true);
    socket.setTimeout(connectTimeoutMs, () =>
      socket.destroy(new Error(`no response from ${server.host} within ${connectTimeoutMs / 1000} s`)),
    );
    socket.once("error", reject);
    socket.once("close", () => reject(new Error(`${server.host} closed the connection`)));
    socket.once("secureConnect", () => {
      socket.setTimeout(0);
      socket.off("error", reject);
      resolve(socket);
    });
  });
}
