import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";

/** A client that reaches the admission port of Wave and has no permissions. */
export interface Stranger {
  /** Posts a body to a path and resolves with the status of the answer; 0 if the connection was cut. */
  readonly post: (path: string, body: string) => Promise<number>;
  /** Opens a connection, sends these bytes and never sends more. Resolves when the bytes are sent, or the peer stops reading. */
  readonly linger: (bytes?: string) => Promise<void>;
  readonly close: () => void;
}

/** Connects to 127.0.0.1 at this port, whatever process answers. */
export function stranger(port: number): Stranger {
  const sockets = new Set<TLSSocket>();
  return {
    post: (path, body) =>
      new Promise((resolve) => {
        const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
        const options = {
          host: "127.0.0.1",
          port,
          path,
          method: "POST",
          headers,
          rejectUnauthorized: false,
          agent: false,
        };
        const sent = request(options, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        sent.on("error", () => resolve(0));
        sent.end(body);
      }),
    linger: async (bytes = "") => {
      const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
      sockets.add(socket);
      socket.on("error", () => {}); // Wave may cut it
      await new Promise((resolve) => socket.once("secureConnect", resolve).once("close", resolve));
      if (socket.destroyed || bytes === "") return;
      // Until all of it is sent, or the peer stops reading.
      await Promise.race([new Promise((resolve) => socket.write(bytes, resolve)), sleep(2_000)]);
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
