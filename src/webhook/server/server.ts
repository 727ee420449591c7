// The HTTPS server: connections, size limits, AdmissionReview in and out. Knows no kinds, no plan and no API client.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, Socket } from "node:net";
import type { Clock } from "../../lib/clock.ts";
import { listenError, parseBindAddress } from "../../telemetry/bind-address.ts";
import { processMetrics } from "../../telemetry/catalogue/process.ts";
import { webhookMetrics } from "../../telemetry/catalogue/webhooks.ts";
import { limitPipelining } from "../../telemetry/http-server.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import type { ServingConfig } from "../certificates/certificate-loop.ts";
import { carriesToken } from "../certificates/path-token.ts";
import { type ConnectionLimits, WebhookConnections } from "./connections.ts";
import { type AdmissionRequest, type AdmissionResponse, ReviewError, writeReview } from "./review.ts";
import { connectionLimits, maxBodyBytes, ReviewReader } from "./review-reader.ts";

const { code: codes } = webhookMetrics.requests.labels;

/** Decides about one request. */
export type Reviewer = (request: AdmissionRequest) => Promise<AdmissionResponse>;

/** The serving configuration and the accepted clients. */
export interface ServerConfig extends ServingConfig {
  /** PEM. If set, only clients with a certificate of one of these authorities are accepted. */
  readonly clientAuthorities?: string | undefined;
}

/** A running admission server. */
export type AdmissionServer = Awaited<ReturnType<typeof serveAdmission>>;

/** Options of {@link serveAdmission}; times in milliseconds. */
export interface AdmissionServerOptions extends Pick<ProcessContext, "clock" | "log" | "metrics"> {
  /** An address in the form that Go uses, such as ":9443". */
  readonly address: string;
  readonly served: ServerConfig;
  readonly review: Reviewer;
  /** Timeout for the complete request. Default: 10,000. */
  readonly requestTimeoutMs?: number;
  /** Default: {@link connectionLimits}. */
  readonly connections?: ConnectionLimits;
}

/**
 * Serves AdmissionReviews over HTTPS at the secret paths. HTTP/1.1 only: the API server never uses HTTP/2 for the webhook of a
 * Service, so that replicas share the load (https://issue.k8s.io/75791).
 * @throws Error of one line if the address is in use or the certificate is broken.
 */
export async function serveAdmission(options: AdmissionServerOptions) {
  const { address, clock, log, metrics, requestTimeoutMs = 10_000 } = options;
  const bind = parseBindAddress(address);
  if (bind === undefined)
    throw new Error(`"${address}" is not an address; use a form such as :9443 (--webhook-bind-address)`);
  let { tokens } = options.served;
  let draining = false;
  const server = createServer({
    ...contextOf(options.served),
    requestCert: options.served.clientAuthorities !== undefined,
    rejectUnauthorized: true,
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 4),
    handshakeTimeout: requestTimeoutMs,
    // The API server sends a few hundred bytes.
    maxHeaderSize: 8 * 1024,
    // The API server keeps idle connections for 90 s. If Wave closed them earlier, the API server could send a review on a
    // connection that is ending, and a failed review admits the workload unchanged.
    keepAliveTimeout: 120_000,
  });
  const dropped = metrics.counter(processMetrics.droppedConnections);
  const onDropped = () => dropped.inc({ server: "webhook" });
  const connections = new WebhookConnections(options.connections ?? connectionLimits, clock, onDropped);
  const answers = metrics.counter(webhookMetrics.requests);
  const reader = new ReviewReader();
  // While the server closes, an active connection ends with its response.
  const isLast = () => draining || !server.listening;
  server.on("connection", (socket) => socket instanceof Socket && connections.add(socket));
  const onRequest = limitPipelining((request, response) => {
    response.once("finish", () =>
      answers.inc({ code: codes.find((code) => code === String(response.statusCode)) ?? "other" }),
    );
    if (!carriesToken(request.url ?? "", tokens)) return reject(response, { status: 404, text: "unknown path" });
    connections.active(request.socket);
    response.once("close", () => connections.idle(request.socket));
    const length = Number(request.headers["content-length"]);
    const rejection = rejectionOf(request, length);
    if (rejection !== undefined) return reject(response, rejection);
    if (request.headers.expect !== undefined) response.writeContinue();
    void answerReview(request, length, response, { ...options, reader, isLast });
  });
  // Without a listener Node.js would request the body at once.
  server.on("request", onRequest).on("checkContinue", onRequest);
  server.on("tlsClientError", (error) => log.debug("a TLS handshake failed", { error: errorText(error) }));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenError(address, "--webhook-bind-address", error)));
    server.listen(bind, resolve);
  });
  return {
    /** The port on which the server listens. */
    port: (server.address() as AddressInfo).port,
    /** Changes the accepted paths, and the certificate of new connections. Throws if the certificate is broken. */
    serve: (served: ServerConfig) => {
      server.setSecureContext(contextOf(served));
      ({ tokens } = served);
    },
    /** Makes each response the last on its connection: API servers then change to other replicas, and `close` loses no review. */
    drain: () => {
      draining = true;
    },
    /** Accepts no new connection, answers the requests in flight for at most 10 s, then resolves. */
    close: () => close(server, connections, clock),
  };
}

function contextOf({ certificate, key, clientAuthorities }: ServerConfig) {
  return { cert: certificate, key, ...(clientAuthorities === undefined ? {} : { ca: clientAuthorities }) };
}

function close(server: Server, connections: WebhookConnections, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.timer(10_000, () => {
      server.closeAllConnections();
      resolve();
    });
    server.close(() => {
      cancel();
      resolve();
    });
    connections.closeIdle();
  });
}

async function answerReview(
  request: IncomingMessage,
  length: number,
  response: ServerResponse,
  options: AdmissionServerOptions & { readonly reader: ReviewReader; readonly isLast: () => boolean },
) {
  const { reader, isLast } = options;
  const disconnected = new AbortController();
  response.once("close", () => disconnected.abort(new Error("the client disconnected")));
  try {
    const text = await reader.read(request, length, disconnected.signal, async (review) =>
      writeReview(review.uid, await decide(review, options)),
    );
    reply(response, { status: 200, text, type: "application/json" }, { last: isLast() });
  } catch (error) {
    if (error instanceof ReviewError) return reply(response, { status: 400, text: error.message }, { last: isLast() });
    // The client disconnected or was too slow, so no response is possible.
    options.log.debug("a request to the webhook was interrupted", { error: errorText(error) });
    response.destroy();
  }
}

/** Allows the request unchanged if the decision fails, so that Wave never blocks a request. */
async function decide(review: AdmissionRequest, options: AdmissionServerOptions) {
  try {
    return await options.review(review);
  } catch (error) {
    const { kind, namespace, name } = review;
    const fields = { kind: kind.kind, namespace, name, error: errorText(error) };
    options.log.error(logMessages.reviewFailed, fields);
    return { patch: undefined, warnings: ["Wave did not change this object: the review failed. See Wave's log."] };
  }
}

interface HttpReply {
  readonly status: number;
  /** The JSON of a review, or one line of text. */
  readonly text: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns the response to a request that is rejected by its head; undefined if its body must be read. `length` is NaN without a Content-Length. */
function rejectionOf({ method, headers }: IncomingMessage, length: number): HttpReply | undefined {
  if (method !== "POST") return { status: 405, text: "the method must be POST", headers: { Allow: "POST" } };
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json") return { status: 415, text: "the Content-Type must be application/json" };
  if (Number.isNaN(length)) return { status: 411, text: "the Content-Length is missing" };
  if (length > maxBodyBytes) return { status: 413, text: `the body is larger than ${maxBodyBytes} bytes` };
  return undefined;
}

/** Answers without reading the body, so the connection ends. */
function reject(response: ServerResponse, rejection: HttpReply): void {
  reply(response, rejection, { last: true });
}

/** Sends a reply. If this is the `last` response on its connection, the header announces that the connection ends. */
function reply(
  response: ServerResponse,
  { status, text, type = "text/plain; charset=utf-8", headers }: HttpReply,
  { last }: { readonly last: boolean },
): void {
  const body = status === 200 ? text : `${text}\n`;
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(body),
    "X-Content-Type-Options": "nosniff",
    ...headers,
    ...(last ? { Connection: "close" } : {}),
  });
  // With a string, Node.js sends head and body in one write.
  response.end(body);
}
