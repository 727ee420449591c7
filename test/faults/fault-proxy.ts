import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { type Asked, statusBody, type Treatment } from "./treatment.ts";

/** A proxy between a client and the API server that parses the requests and treats each as configured. */
export interface FaultProxy {
  readonly url: URL;
  /** Sets the treatment of each later request, and of each response that has not begun. */
  readonly treat: (choose: (asked: Asked) => Treatment) => void;
  /** Forwards every later request, and everything that was held back. */
  readonly calm: () => void;
  /** Sends GOAWAY on every connection: current streams continue, new requests need another connection. */
  readonly goAway: () => void;
  /** Breaks every connection, with all its streams. */
  readonly breakConnections: () => void;
  readonly close: () => void;
}

const pass: Treatment = { type: "pass" };

/**
 * Starts a proxy on a free port with the certificate and key of the API server, so that clients need no other configuration. The proxy
 * uses HTTP/2 on both sides: each connection of a client has its own connection to the API server, and both end together.
 */
export async function startFaultProxy(o: {
  readonly server: URL;
  /** The authority that verifies the certificate of the server. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}): Promise<FaultProxy> {
  let choose: (asked: Asked) => Treatment = () => pass;
  const sessions = new Set<ServerHttp2Session>();
  let calmed = Promise.withResolvers<void>();
  const proxy = createSecureServer({ cert: o.cert, key: o.key, settings: { maxConcurrentStreams: 250 } });

  proxy.on("session", (session) => {
    sessions.add(session);
    const upstream = connect(o.server, { ca: o.ca });
    session
      .on("error", () => {})
      .once("close", () => {
        sessions.delete(session);
        upstream.destroy();
      });
    upstream.on("error", () => {}).once("close", () => session.destroy());
    session.on("stream", (stream, headers) => {
      stream.on("error", () => {});
      const method = headers[":method"] ?? "GET";
      const path = headers[":path"] ?? "/";
      const treatment = choose({ method, path, isWatch: /[?&]watch=(true|1)/.test(path) });
      carry(stream, headers, upstream, treatment).catch(() => reset(stream));
    });
  });

  async function carry(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    upstream: ClientHttp2Session,
    treatment: Treatment,
  ): Promise<void> {
    switch (treatment.type) {
      case "answer":
        stream.resume();
        stream.respond({
          ":status": treatment.status,
          "content-type": "application/json",
          ...(treatment.retryAfterSeconds !== undefined && { "retry-after": String(treatment.retryAfterSeconds) }),
        });
        stream.end(statusBody(treatment.status));
        return;
      case "reset":
        reset(stream);
        return;
      case "delay":
        await new Promise((resolve) => setTimeout(resolve, treatment.ms));
        await answered(stream, send(stream, headers, upstream));
        return;
      case "pass":
        await answered(stream, send(stream, headers, upstream));
        return;
      case "lose the answer":
        await once(send(stream, headers, upstream), "response");
        reset(stream);
        return;
      case "truncate": {
        const request = send(stream, headers, upstream);
        if (await partly(stream, request, treatment.bytes, calmed.promise)) {
          if (treatment.cleanly) stream.end();
          else reset(stream);
        } else request.pipe(stream);
        return;
      }
      case "black hole": {
        const request = send(stream, headers, upstream);
        const { promise } = calmed;
        await partly(stream, request, treatment.bytes, promise);
        await promise;
        request.pipe(stream);
        return;
      }
    }
  }

  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const breakConnections = () => {
    for (const session of sessions) session.destroy();
  };
  return {
    url: new URL(`https://127.0.0.1:${(proxy.address() as AddressInfo).port}`),
    treat: (next) => {
      choose = next;
    },
    calm: () => {
      choose = () => pass;
      calmed.resolve();
      calmed = Promise.withResolvers();
    },
    goAway: () => {
      for (const session of sessions) session.goaway(constants.NGHTTP2_NO_ERROR);
    },
    breakConnections,
    close: () => {
      proxy.close();
      breakConnections();
    },
  };
}

/** Forwards a request of a client. When one side ends the stream, the other side ends too. */
function send(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, upstream: ClientHttp2Session) {
  const { ":authority": _, ...rest } = headers;
  const request = upstream.request(rest, { endStream: stream.endAfterHeaders });
  request.on("error", () => reset(stream));
  stream.once("close", () => request.close(constants.NGHTTP2_CANCEL));
  if (!stream.endAfterHeaders) stream.pipe(request);
  return request;
}

/** Forwards the response. */
async function answered(stream: ServerHttp2Stream, request: ClientHttp2Stream): Promise<void> {
  const [head] = (await once(request, "response")) as [IncomingHttpHeaders];
  if (stream.destroyed) return;
  stream.respond(head);
  request.pipe(stream);
}

/**
 * Forwards the head of the response and this many bytes of its body, and returns true: the rest waits in `request`. Returns false if
 * `calmed` is first.
 */
async function partly(
  stream: ServerHttp2Stream,
  request: ClientHttp2Stream,
  bytes: number,
  calmed: Promise<void>,
): Promise<boolean> {
  let calm = false;
  const whenCalm = calmed.then(() => {
    calm = true;
  });
  const [head] = (await once(request, "response")) as [IncomingHttpHeaders];
  if (stream.destroyed) return true;
  stream.respond(head);
  for (let left = bytes; left > 0 && !request.readableEnded && !request.destroyed; ) {
    const chunk = request.read() as Buffer | null;
    if (chunk === null) {
      await Promise.race([once(request, "readable"), once(request, "close"), whenCalm]);
      if (calm) return false;
      continue;
    }
    const part = chunk.subarray(0, left);
    if (part.length < chunk.length) request.unshift(chunk.subarray(part.length));
    left -= part.length;
    stream.write(part);
  }
  return true;
}

function reset(stream: ServerHttp2Stream): void {
  if (!stream.destroyed) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}
