import type { Clock } from "../../lib/clock.ts";
import type { TlsConfig } from "../config/cluster-access.ts";
import { connectHttp2, type Http2Connection } from "./http2-transport.ts";
import { connectTls, createHttp1Transport, type Transport } from "./transport.ts";

/** The connections to one server with one client certificate. */
export interface Connections {
  /** Returns a transport with unreserved room for a request; undefined: call {@link connect} first. Throws an Error after `close`. */
  readonly withRoom: (longLived: boolean) => Transport | undefined;
  /** Opens another connection, for long-lived requests or for others, and resolves when it is usable. Concurrent calls share one connection. */
  readonly connect: (longLived: boolean) => Promise<void>;
  readonly close: () => void;
}

/** The connections for long-lived requests, or those for other requests. */
interface Http2Pool {
  connections: readonly Http2Connection[];
  connecting: Promise<void> | undefined;
}

/**
 * Uses one HTTP/2 connection for watches and one for other requests, and more only when the stream limit of the server is reached. Uses
 * HTTP/1.1 for servers without HTTP/2.
 *
 * An API server closes a watch whose events wait. On the connection of many concurrent writes, they wait for the responses.
 */
export function createConnections(
  server: URL,
  tls: TlsConfig,
  options: { readonly clock: Clock; readonly proxy?: URL | undefined },
): Connections {
  let http1: Transport | undefined;
  const watches: Http2Pool = { connections: [], connecting: undefined };
  const others: Http2Pool = { connections: [], connecting: undefined };
  let closed = false;

  const connectOnce = async (pool: Http2Pool): Promise<void> => {
    const socket = await connectTls(server, tls, options.proxy);
    if (!closed && socket.alpnProtocol === "h2") {
      const connection = await connectHttp2(server, socket, options.clock);
      // Keeps connections that are no longer used but not ended, for close().
      pool.connections = [...pool.connections.filter((each) => !each.isEnded()), connection];
      if (closed) connection.close();
    } else {
      socket.destroy();
      http1 = createHttp1Transport(server, tls, options.proxy);
    }
  };

  const poolFor = (longLived: boolean) => (longLived ? watches : others);

  const connect = (longLived: boolean): Promise<void> => {
    const pool = poolFor(longLived);
    pool.connecting ??= connectOnce(pool).finally(() => {
      pool.connecting = undefined;
    });
    return pool.connecting;
  };

  const withRoom = (longLived: boolean): Transport | undefined => {
    if (closed) throw new Error("the client is closed");
    if (server.protocol === "http:") http1 ??= createHttp1Transport(server, tls, options.proxy);
    if (http1 !== undefined) return http1;
    return poolFor(longLived).connections.find((connection) => connection.hasRoom());
  };

  const close = () => {
    closed = true;
    http1?.close();
    for (const { connections } of [watches, others]) for (const connection of connections) connection.close();
  };
  return { withRoom, connect, close };
}
