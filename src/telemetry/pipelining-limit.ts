import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** A client may have the whole answer, and ask again, a moment before this process hears that the answer has left. */
const most = 2;

/**
 * Listens to two requests of a connection at a time. Whoever sends more before the answers have left (pipelining,
 * RFC 9112, 9.3.2) has their connection ended: neither the API server nor Prometheus nor the kubelet do, and in each 64 KiB
 * that arrive there is room for a thousand requests, the answers to which would all be in memory at once.
 */
export function limitPipelining(listener: RequestListener): RequestListener {
  const underWay = new WeakMap<Socket, number>();
  return (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const before = underWay.get(socket) ?? 0;
    if (before === most) {
      socket.destroy();
      return;
    }
    underWay.set(socket, before + 1);
    response.once("finish", () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1));
    listener(request, response);
  };
}
