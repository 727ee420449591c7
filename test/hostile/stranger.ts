import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";

/** Somebody who reaches Wave's admission port and is nobody there. */
export interface Stranger {
  /** Posts a body to a path and resolves with the status of the answer; 0 where the connection was cut instead. */
  readonly post: (path: string, body: string) => Promise<number>;
  /** A connection on which these bytes were sent and no more will be. Resolves when they have left, or nobody takes them. */
  readonly linger: (bytes?: string) => Promise<void>;
  readonly close: () => void;
}

/** Connects to 127.0.0.1 at this port, whoever answers. */
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
      // Until all of it has left, or nobody takes it.
      await Promise.race([new Promise((resolve) => socket.write(bytes, resolve)), sleep(2_000)]);
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
