import type { ClientRequest, IncomingMessage } from "node:http";
import type { TlsConfig } from "../config/cluster-access.ts";
import { tlsOptions } from "./tls-connect.ts";
import {
  type Exchange,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  UnprocessedError,
} from "./transport.ts";

/** HTTP/1.1 with kept-alive connections, one request at a time on each: for `http://` servers and those without HTTP/2. */
export function createHttp1Transport(server: URL, tls: TlsConfig): Transport {
  // Not imported as ES modules, which would also load all that node:http offers lazily: 13 MiB.
  const secure = server.protocol === "https:";
  const { Agent, request } = secure ? process.getBuiltinModule("node:https") : process.getBuiltinModule("node:http");
  const agent = new Agent({ keepAlive: true, keepAliveMsecs: 5_000, ...(secure ? tlsOptions(server, tls) : {}) });

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
      // A kept connection may have been closed by the server just before: then it never saw the request. Only what
      // changes nothing is taken to be safe to send again.
      sent.on("error", (error) =>
        reject(sent.reusedSocket && method === "GET" ? new UnprocessedError(error.message, { cause: error }) : error),
      );
      sent.once("close", () => reject(new Error("the connection was closed before an answer came")));
    });
    sent.end(body);
    return { response, cancel: (reason) => void sent.destroy(reason) };
  };
  return { send, close: () => agent.destroy() };
}

/** Node.js sends the body of a DELETE without any framing unless its length is said: servers then answer 400. */
function framed(headers: TransportRequest["headers"], body: Buffer | undefined): TransportRequest["headers"] {
  return body === undefined ? headers : { ...headers, "content-length": String(body.length) };
}
