import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Two, because a client may send its next request just before this process learns that the response was sent. */
const maxConcurrent = 2;

/**
 * Accepts two concurrent requests on a connection. Closes the connection of a client that sends more (pipelining, RFC 9112, 9.3.2).
 * The API server, Prometheus and the kubelet do not use pipelining. 64 KiB can contain a thousand requests, and all their
 * responses would be in memory together.
 */
export function limitPipelining(listener: RequestListener): RequestListener {
  const running = new WeakMap<Socket, number>();
  return (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const before = running.get(socket) ?? 0;
    if (before === maxConcurrent) {
      socket.destroy();
      return;
    }
    running.set(socket, before + 1);
    response.once("finish", () => running.set(socket, (running.get(socket) ?? 1) - 1));
    listener(request, response);
  };
}
