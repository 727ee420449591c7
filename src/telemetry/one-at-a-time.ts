import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Listens to one request of a connection at a time. Whoever sends another before the answer to the one before has left
 * (pipelining, RFC 9112, 9.3.2) has their connection ended: neither the API server nor Prometheus nor the kubelet do, and
 * in each 64 KiB that arrive there is room for a thousand requests, the answers to which would all be in memory at once.
 */
export function oneAtATime(listener: RequestListener): RequestListener {
  const asking = new WeakSet<Socket>();
  return (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    if (asking.has(socket)) {
      socket.destroy();
      return;
    }
    asking.add(socket);
    response.once("finish", () => asking.delete(socket));
    listener(request, response);
  };
}
