import type { Clock } from "../lib/clock.ts";
import type { TlsConfig } from "./cluster-config.ts";
import { createHttp1Transport } from "./http1-transport.ts";
import { createHttp2Connection, type Http2Connection, type PingSettings } from "./http2-transport.ts";
import { connectTls } from "./tls-connect.ts";
import type { Transport } from "./transport.ts";

/** The connections to one server with one client certificate. */
export interface Connections {
  /** A transport with room for another request; connects where there is none. */
  readonly transport: (longLived: boolean) => Promise<Transport>;
  readonly close: () => void;
}

/**
 * One HTTP/2 connection for everything, and another only when the server's limit of streams is reached. Servers that do
 * not offer HTTP/2 get HTTP/1.1.
 */
export function createConnections(
  server: URL,
  tls: TlsConfig,
  options: { readonly clock: Clock; readonly ping: PingSettings },
): Connections {
  let http1: Transport | undefined;
  let http2: Http2Connection[] = [];
  let connecting: Promise<Transport> | undefined;
  let closed = false;

  const connect = async (): Promise<Transport> => {
    const socket = await connectTls(server, tls);
    if (closed) socket.destroy();
    if (closed) throw new Error("the client is closed");
    if (socket.alpnProtocol === "h2") {
      const connection = createHttp2Connection(server, socket, options);
      http2.push(connection);
      return connection;
    }
    socket.destroy();
    http1 = createHttp1Transport(server, tls);
    return http1;
  };

  const transport = async (longLived: boolean): Promise<Transport> => {
    if (closed) throw new Error("the client is closed");
    if (server.protocol === "http:") http1 ??= createHttp1Transport(server, tls);
    if (http1 !== undefined) return http1;
    http2 = http2.filter((connection) => connection.isUsable());
    const withRoom = http2.find((connection) => connection.hasRoom(longLived));
    if (withRoom !== undefined) return withRoom;
    connecting ??= connect().finally(() => {
      connecting = undefined;
    });
    return connecting;
  };

  const close = () => {
    closed = true;
    http1?.close();
    for (const connection of http2) connection.close();
  };
  return { transport, close };
}
