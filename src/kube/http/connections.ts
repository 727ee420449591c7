import type { Clock } from "../../lib/clock.ts";
import type { TlsConfig } from "../config/cluster-access.ts";
import { createHttp1Transport } from "./http1-transport.ts";
import { connectHttp2, type Http2Connection, type PingSettings } from "./http2-transport.ts";
import { connectTls } from "./tls-connect.ts";
import type { Transport } from "./transport.ts";

/** The connections to one server with one client certificate. */
export interface Connections {
  /**
   * Returns a transport with room for another request, for immediate use: the room is not reserved. Undefined: call
   * {@link connect} first.
   * @throws Error after `close`.
   */
  readonly withRoom: (longLived: boolean) => Transport | undefined;
  /** Opens another connection and resolves when it is usable. Concurrent calls share one connection. */
  readonly connect: () => Promise<void>;
  readonly close: () => void;
}

/**
 * Uses one HTTP/2 connection for everything, and another one only when the stream limit of the server is reached. Uses
 * HTTP/1.1 for servers without HTTP/2.
 */
export function createConnections(
  server: URL,
  tls: TlsConfig,
  options: { readonly clock: Clock; readonly ping: PingSettings; readonly proxy?: URL | undefined },
): Connections {
  let http1: Transport | undefined;
  let http2: Http2Connection[] = [];
  let connecting: Promise<void> | undefined;
  let closed = false;

  const connectOnce = async (): Promise<void> => {
    const socket = await connectTls(server, tls, options.proxy);
    if (!closed && socket.alpnProtocol === "h2") {
      const connection = await connectHttp2(server, socket, options);
      // Keeps connections that are no longer used but not ended, for close().
      http2 = [...http2.filter((each) => !each.isEnded()), connection];
      if (closed) connection.close();
    } else {
      socket.destroy();
      http1 = createHttp1Transport(server, tls, options.proxy);
    }
  };

  const connect = (): Promise<void> => {
    connecting ??= connectOnce().finally(() => {
      connecting = undefined;
    });
    return connecting;
  };

  const withRoom = (longLived: boolean): Transport | undefined => {
    if (closed) throw new Error("the client is closed");
    if (server.protocol === "http:") http1 ??= createHttp1Transport(server, tls, options.proxy);
    if (http1 !== undefined) return http1;
    return http2.find((connection) => connection.isUsable() && connection.hasRoom(longLived));
  };

  const close = () => {
    closed = true;
    http1?.close();
    for (const connection of http2) connection.close();
  };
  return { withRoom, connect, close };
}
