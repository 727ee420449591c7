import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../lib/clock.ts";
import { listenError, parseBindAddress } from "../telemetry/bind-address.ts";
import { errorText } from "../telemetry/error-text.ts";
import type { Logger } from "../telemetry/log.ts";
import { type Body, BodyReader } from "./body.ts";
import { type AdmissionAnswer, type AdmissionRequest, ReviewError, readReview, writeReview } from "./review.ts";

/** Where the API server sends reviews: one path for all kinds, and one a kind as Wave has always had them. */
export const reviewPaths = [
  "/mutate",
  "/mutate-apps-v1-deployment",
  "/mutate-apps-v1-statefulset",
  "/mutate-apps-v1-daemonset",
] as const;

/** An object has at most about 3 MiB (the API server's limit of a request) and an UPDATE brings it twice. */
const bodyLimits = { one: 8 * 1024 * 1024, all: 64 * 1024 * 1024 };

/** What a TLS server shows: PEM texts; the certificate may be followed by its chain. */
export interface ServedCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Decides on one request. */
export type Reviewer = (request: AdmissionRequest) => Promise<AdmissionAnswer>;

/** A running admission server. */
export interface AdmissionServer {
  /** The port it listens on. */
  readonly port: number;
  /** Shows this certificate to connections made from now on; those that exist go on undisturbed. Throws if it is broken. */
  setCertificate(served: ServedCertificate): void;
  /** Takes no new connection, answers what is under way (10 s at most), then ends. */
  close(): Promise<void>;
}

/** What an admission server needs; times in milliseconds. */
export interface AdmissionServerOptions {
  /** In Go's form, such as ":9443". */
  readonly address: string;
  readonly served: ServedCertificate;
  readonly review: Reviewer;
  readonly clock: Clock;
  readonly log: Logger;
  /** Until a request must have arrived whole. Default 10,000. */
  readonly requestTimeoutMs?: number;
}

/**
 * Serves admission over HTTPS. HTTP/1.1 only: the API server never speaks HTTP/2 with the webhook of a Service, so that
 * replicas share the load (https://issue.k8s.io/75791).
 * @throws Error in one line where the address is taken or the certificate broken.
 */
export async function serveAdmission(options: AdmissionServerOptions): Promise<AdmissionServer> {
  const { address, served, log, requestTimeoutMs = 10_000 } = options;
  const bind = parseBindAddress(address);
  if (bind === undefined) throw new Error(`"${address}" is not an address such as :9443 (--webhook-bind-address)`);
  const server = createServer({
    key: served.key,
    cert: served.certificate,
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 4),
    handshakeTimeout: requestTimeoutMs,
    // The API server keeps idle connections for 90 s; were they closed here first, it could send a review into a
    // connection that is just ending, and a failed review lets the workload pass unchanged.
    keepAliveTimeout: 120_000,
  });
  const idle = trackIdle(server);
  const bodies = new BodyReader(bodyLimits);
  server.on("request", (request, response) => void answer(request, response, server, bodies, options));
  server.on("tlsClientError", (error) => log.debug("a TLS handshake failed", { error: errorText(error) }));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenError(address, "--webhook-bind-address", error)));
    server.listen(bind, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    setCertificate: ({ certificate, key }) => server.setSecureContext({ cert: certificate, key }),
    close: () => close(server, idle, options.clock),
  };
}

/** The connections that wait for a request, those included on which there has never been one. */
function trackIdle(server: Server): ReadonlySet<TLSSocket> {
  const idle = new Set<TLSSocket>();
  server.on("secureConnection", (socket) => {
    idle.add(socket);
    socket.once("close", () => idle.delete(socket));
  });
  server.on("request", (request, response) => {
    const socket = request.socket as TLSSocket;
    idle.delete(socket);
    response.once("finish", () => socket.destroyed || idle.add(socket));
  });
  return idle;
}

function close(server: Server, idle: ReadonlySet<TLSSocket>, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.timer(10_000, () => {
      server.closeAllConnections();
      resolve();
    });
    server.close(() => {
      cancel();
      resolve();
    });
    for (const socket of idle) socket.destroy();
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  server: Server,
  bodies: BodyReader,
  options: AdmissionServerOptions,
) {
  const refused = refusal(request);
  try {
    const body = await bodies.read(request);
    if (refused !== undefined) return reply(server, response, refused);
    if (body.state !== "whole") return reply(server, response, bodyRefusals[body.state]);
    const review = readReview(body.bytes);
    const text = writeReview(review.uid, await decide(review, options));
    reply(server, response, { status: 200, text, type: "application/json" });
  } catch (error) {
    if (error instanceof ReviewError) return reply(server, response, { status: 400, text: error.message });
    // The client hung up or was too slow: there is nobody to answer.
    options.log.debug("a request to the webhook broke off", { error: errorText(error) });
    response.destroy();
  }
}

/** Whatever goes wrong in the decision, the request is allowed: Wave never stands in anybody's way. */
async function decide(review: AdmissionRequest, options: AdmissionServerOptions) {
  try {
    return await options.review(review);
  } catch (error) {
    const workload = `${review.kind.kind} ${review.namespace}/${review.name}`;
    options.log.error("admission failed; the request is allowed unchanged", { workload, error: errorText(error) });
    return { patch: undefined, warnings: ["Wave could not look at this and lets it pass; see Wave's log"] };
  }
}

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly type?: string;
  readonly allow?: string;
}

const bodyRefusals: Record<Exclude<Body["state"], "whole">, Reply> = {
  "too large": { status: 413, text: `the body is larger than ${bodyLimits.one} bytes` },
  "too many": { status: 503, text: "too many large reviews at once" },
};

function refusal({ method, url = "", headers }: IncomingMessage): Reply | undefined {
  const path = url.split("?", 1)[0];
  if (!reviewPaths.some((known) => known === path)) return { status: 404, text: "no such path" };
  if (method !== "POST") return { status: 405, text: "only POST is answered", allow: "POST" };
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json") return { status: 415, text: "the Content-Type must be application/json" };
  return undefined;
}

function reply(
  server: Server,
  response: ServerResponse,
  { status, text, type = "text/plain; charset=utf-8", allow }: Reply,
) {
  const body = status === 200 ? text : `${text}\n`;
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(body),
    "X-Content-Type-Options": "nosniff",
    ...(allow ? { Allow: allow } : {}),
    // While the server closes, a connection that was busy ends with its answer.
    ...(server.listening ? {} : { Connection: "close" }),
  });
  // As a string: head and body then leave in one write.
  response.end(body);
}
