import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, Socket } from "node:net";
import type { Clock } from "../../lib/clock.ts";
import { listenError, parseBindAddress } from "../../telemetry/bind-address.ts";
import { admissionMetrics } from "../../telemetry/catalogue/webhooks.ts";
import { fewAtATime } from "../../telemetry/few-at-a-time.ts";
import { droppedConnections } from "../../telemetry/http-server.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import type { Served } from "../certificates/certificate-source.ts";
import { carriesToken } from "../certificates/path-token.ts";
import { connectionLimits } from "./admission-limits.ts";
import { type ConnectionLimits, Connections } from "./connections.ts";
import { refusal, reply, turnAway, unknownPath } from "./reply.ts";
import { type AdmissionAnswer, type AdmissionRequest, ReviewError, writeReview } from "./review.ts";
import { ReviewReader } from "./review-reader.ts";

const { code: codes } = admissionMetrics.requests.labels;

/** Decides on one request. */
export type Reviewer = (request: AdmissionRequest) => Promise<AdmissionAnswer>;

/** What is served, and to whom. */
export interface ServedToCallers extends Served {
  /** PEM; only clients with a certificate by one of these are served. Undefined: all. */
  readonly clientAuthorities?: string | undefined;
}

/** A running admission server. */
export interface AdmissionServer {
  /** The port it listens on. */
  readonly port: number;
  /**
   * Answers at these paths from now on, and shows this certificate to connections made from now on; those that exist go on
   * undisturbed. Throws if it is broken.
   */
  serve(served: ServedToCallers): void;
  /**
   * Answers as before, but each answer is the last on its connection: API servers that are to go elsewhere do, and none of
   * them is just sending a review into a connection that `close` ends.
   */
  drain(): void;
  /** Takes no new connection, answers what is under way (10 s at most), then ends. */
  close(): Promise<void>;
}

/** What an admission server needs; times in milliseconds. */
export interface AdmissionServerOptions {
  /** In Go's form, such as ":9443". */
  readonly address: string;
  readonly served: ServedToCallers;
  readonly review: Reviewer;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Until a request must have arrived whole. Default 10,000. */
  readonly requestTimeoutMs?: number;
  /** Default: those of the budget. */
  readonly connections?: ConnectionLimits;
}

/**
 * Serves admission over HTTPS, to those who know the path. HTTP/1.1 only: the API server never speaks HTTP/2 with the
 * webhook of a Service, so that replicas share the load (https://issue.k8s.io/75791).
 * @throws Error in one line where the address is taken or the certificate broken.
 */
export async function serveAdmission(options: AdmissionServerOptions): Promise<AdmissionServer> {
  const { address, clock, log, metrics, requestTimeoutMs = 10_000 } = options;
  const bind = parseBindAddress(address);
  if (bind === undefined) throw new Error(`"${address}" is not an address such as :9443 (--webhook-bind-address)`);
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
    // The API server keeps idle connections for 90 s; were they closed here first, it could send a review into a
    // connection that is just ending, and a failed review lets the workload pass unchanged.
    keepAliveTimeout: 120_000,
  });
  const dropped = droppedConnections(metrics);
  const onDropped = () => dropped.inc({ server: "webhook" });
  const connections = new Connections(options.connections ?? connectionLimits, clock, onDropped);
  const answers = metrics.counter(admissionMetrics.requests);
  const reader = new ReviewReader();
  // While the server closes, a connection that was busy ends with its answer.
  const isLast = () => draining || !server.listening;
  server.on("connection", (socket) => socket instanceof Socket && connections.add(socket));
  const onRequest = fewAtATime((request, response) => {
    response.once("finish", () =>
      answers.inc({ code: codes.find((code) => code === String(response.statusCode)) ?? "other" }),
    );
    if (!carriesToken(request.url ?? "", tokens)) return turnAway(response, unknownPath);
    connections.asking(request.socket);
    response.once("close", () => connections.answered(request.socket));
    const length = Number(request.headers["content-length"]);
    const refused = refusal(request, length);
    if (refused !== undefined) return turnAway(response, refused);
    if (request.headers.expect !== undefined) response.writeContinue();
    void answer(request, length, response, { ...options, reader, isLast });
  });
  // Without a listener Node.js would ask for the body at once.
  server.on("request", onRequest).on("checkContinue", onRequest);
  server.on("tlsClientError", (error) => log.debug("a TLS handshake failed", { error: errorText(error) }));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenError(address, "--webhook-bind-address", error)));
    server.listen(bind, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    serve: (served) => {
      server.setSecureContext(contextOf(served));
      ({ tokens } = served);
    },
    drain: () => {
      draining = true;
    },
    close: () => close(server, connections, clock),
  };
}

function contextOf({ certificate, key, clientAuthorities }: ServedToCallers) {
  return { cert: certificate, key, ...(clientAuthorities === undefined ? {} : { ca: clientAuthorities }) };
}

function close(server: Server, connections: Connections, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.timer(10_000, () => {
      server.closeAllConnections();
      resolve();
    });
    server.close(() => {
      cancel();
      resolve();
    });
    connections.endIdle();
  });
}

async function answer(
  request: IncomingMessage,
  length: number,
  response: ServerResponse,
  options: AdmissionServerOptions & { readonly reader: ReviewReader; readonly isLast: () => boolean },
) {
  const { reader, isLast } = options;
  const gone = new AbortController();
  response.once("close", () => gone.abort(new Error("the client hung up")));
  try {
    const text = await reader.read(request, length, gone.signal, async (review) =>
      writeReview(review.uid, await decide(review, options)),
    );
    reply(response, { status: 200, text, type: "application/json" }, { last: isLast() });
  } catch (error) {
    if (error instanceof ReviewError) return reply(response, { status: 400, text: error.message }, { last: isLast() });
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
    const { kind, namespace, name } = review;
    const fields = { kind: kind.kind, namespace, name, error: errorText(error) };
    options.log.error("admission failed; the request is allowed unchanged", fields);
    return { patch: undefined, warnings: ["Wave could not look at this and lets it pass; see Wave's log"] };
  }
}
