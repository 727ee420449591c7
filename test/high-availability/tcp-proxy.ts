import { connect, createServer, type Socket } from "node:net";

/** A TCP connection to the API server that can be cut the way a broken network cuts it: nothing is closed or refused. */
export interface TcpProxy {
  readonly port: number;
  /** Stops all data in both directions. New connections are accepted, but not forwarded. */
  readonly cut: () => void;
  /** Delivers the data that was sent meanwhile, as TCP does when a network works again. */
  readonly mend: () => void;
  readonly close: () => void;
}

/** Starts a proxy on a free port of this machine, in front of `target`. */
export function startTcpProxy(target: URL): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let passing = true;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.setNoDelay(true);
    if (!passing) socket.pause();
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port), allowHalfOpen: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on("data", (chunk) => to.write(chunk));
      from.on("end", () => to.end());
      from.on("close", () => to.destroySoon());
      keep(from);
    }
  });
  const each = (act: (socket: Socket) => void) => {
    for (const socket of sockets) act(socket);
  };
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (typeof address !== "object" || address === null) return reject(new Error("the proxy has no port"));
      resolve({
        port: address.port,
        cut: () => {
          passing = false;
          each((socket) => socket.pause());
        },
        mend: () => {
          passing = true;
          each((socket) => socket.resume());
        },
        close: () => {
          server.close();
          each((socket) => socket.destroy());
        },
      });
    });
  });
}
