import type { ClientRequest, IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { connect } from "node:tls";
import type { TlsConfig } from "../config/cluster-access.ts";
import { tlsOptions } from "../config/tls-options.ts";
import { openServerTunnel } from "./tls-connect.ts";
import {
  type Exchange,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  UnprocessedError,
} from "./transport.ts";

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
    const sent: ClientRequest = request(url, { method, agent, headers: framed(headers, body) });
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

/** Adds the length. Without it Node.js sends the body of a DELETE without framing, and servers respond with 400. */
function framed(headers: TransportRequest["headers"], body: Buffer | undefined): TransportRequest["headers"] {
  return body === undefined ? headers : { ...headers, "content-length": String(body.length) };
}
