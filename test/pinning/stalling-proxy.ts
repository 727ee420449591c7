import { connect, createServer, type Socket } from "node:net";

/** A TCP proxy in this process that can stop to forward, so that its server does not answer in time. */
export interface StallingProxy {
  /** Starts to listen for a server on this port. Resolves to the own port. */
  readonly listen: (target: number) => Promise<number>;
  /** Stops to forward, also on open connections, until `resume`. */
  readonly stall: () => void;
  readonly resume: () => void;
  readonly close: () => void;
}

/** Returns a proxy that forwards everything until it is told to stall. */
export function createStallingProxy(): StallingProxy {
  const clients = new Set<Socket>();
  let isStalled = false;
  let target = 0;
  const server = createServer((client) => {
    clients.add(client);
    const upstream = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
    client.on("close", () => clients.delete(client));
    if (isStalled) client.unpipe(upstream);
  });
  return {
    listen: (port) =>
      new Promise((resolve) => {
        target = port;
        server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
      }),
    stall: () => {
      isStalled = true;
      for (const client of clients) client.unpipe();
    },
    // The API server connects again.
    resume: () => {
      isStalled = false;
      for (const client of clients) client.destroy();
    },
    close: () => {
      for (const client of clients) client.destroy();
      server.close();
    },
  };
}
