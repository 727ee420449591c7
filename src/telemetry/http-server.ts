/** This folder writes logs and metrics, and serves metrics and probes. It knows nothing of Kubernetes. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { listenError, parseBindAddress } from "./bind-address.ts";
import { processMetrics } from "./catalogue/process.ts";
import type { MetricsRegistry } from "./metrics/metrics.ts";

/** A listening server. */
export interface HttpEndpoint {
  /** The actual port, also if the kernel chose it. */
  readonly port: number;
  /** Stops listening and closes every connection immediately. */
  close(): Promise<void>;
}

/** Checks by name. Each returns undefined if it passes, otherwise the reason in one line. */
export type Checks = Readonly<Record<string, () => string | undefined>>;

interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const plainText = "text/plain; charset=utf-8";
const prometheusText = "text/plain; version=0.0.4; charset=utf-8";

/** Serves the registry's metrics at `/metrics` of an address such as `:8080`. Rejects with one line if it cannot listen there. */
export function serveMetrics(options: {
  readonly address: string;
  readonly registry: MetricsRegistry;
}): Promise<HttpEndpoint> {
  return serve("metrics", options, (path) =>
    path === "/metrics" ? { status: 200, type: prometheusText, body: options.registry.render() } : undefined,
  );
}

/**
 * Serves `/healthz` and `/readyz`: 200 and `ok`, or 503 and the reasons. `/readyz` adds one line for each of `notes`, which do
 * not affect readiness. `?verbose` lists each check in the format of the API server (https://kubernetes.io/docs/reference/using-api/health-checks/).
 * Rejects with one line that names the flag if it cannot listen there.
 */
export function serveProbes(options: {
  readonly address: string;
  readonly ready: Checks;
  readonly healthy: Checks;
  readonly notes?: () => readonly string[];
  readonly registry: MetricsRegistry;
}): Promise<HttpEndpoint> {
  const { notes = () => [] } = options;
  return serve("probes", options, (path, query) => {
    if (path === "/readyz") return probe("readyz", options.ready, query.has("verbose"), notes());
    if (path === "/healthz") return probe("healthz", options.healthy, query.has("verbose"));
    return undefined;
  });
}

function probe(name: string, checks: Checks, verbose: boolean, notes: readonly string[] = []): HttpAnswer {
  const results = Object.entries(checks).map(([check, run]) => ({ check, problem: run() }));
  const failed = results.filter((result) => result.problem !== undefined);
  const status = failed.length === 0 ? 200 : 503;
  if (verbose) {
    const lines = results.map(({ check, problem }) =>
      problem === undefined ? `[+]${check} ok` : `[-]${check} failed: ${problem}`,
    );
    lines.push(...notes.map((note) => `[!]${note}`), `${name} check ${failed.length === 0 ? "passed" : "failed"}`);
    return { status, type: plainText, body: `${lines.join("\n")}\n` };
  }
  if (failed.length === 0 && notes.length === 0) return { status, type: plainText, body: "ok" };
  const lines = failed.length === 0 ? ["ok"] : failed.map(({ check, problem }) => `${check}: ${problem}`);
  return { status, type: plainText, body: `${[...lines, ...notes].join("\n")}\n` };
}

/** A probe or scrape has some hundred bytes and no body. */
const limits = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 8 * 1024,
};
/** Maximum number of connections. Prometheus and the kubelet need one each. */
const maxConnections = 50;

/** Closes the oldest connection for a new one if there are too many, so that idle connections cannot block other clients. */
function closeOldest(server: Server, onClosed: () => void): void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    const [oldest] = sockets;
    if (oldest !== undefined && sockets.size >= maxConnections) {
      sockets.delete(oldest);
      oldest.destroy();
      onClosed();
    }
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
}

type Route = (path: string, query: URLSearchParams) => HttpAnswer | undefined;

const flags = { metrics: "--metrics-bind-address", probes: "--health-probe-bind-address" } as const;

async function serve(
  name: keyof typeof flags,
  { address, registry }: { readonly address: string; readonly registry: MetricsRegistry },
  route: Route,
): Promise<HttpEndpoint> {
  const where = parseBindAddress(address);
  if (where === undefined)
    throw new Error(`${flags[name]}: ${address} is not an address; use for example :8080 or 127.0.0.1:8080`);
  // Not an import statement, which reads every export of node:http. The export WebSocket loads undici: 13 MiB of memory.
  const { createServer } = process.getBuiltinModule("node:http");
  const server = createServer(
    limits,
    limitPipelining((request, response) => answer(request, response, route)),
  );
  const dropped = registry.counter(processMetrics.droppedConnections);
  closeOldest(server, () => dropped.inc({ server: name }));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(listenError(address, flags[name], error)));
    server.listen(where.port, where.host, () => {
      const bound = server.address();
      resolve({ port: bound === null || typeof bound === "string" ? where.port : bound.port, close });
    });
  });
}

function answer(request: IncomingMessage, response: ServerResponse, route: Route): void {
  const { status, type, body } = answerTo(request, route);
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(body),
    ...(status === 405 && { Allow: "GET, HEAD" }),
  });
  response.end(body);
}

function answerTo(request: IncomingMessage, route: Route): HttpAnswer {
  const method = request.method ?? "";
  if (method !== "GET" && method !== "HEAD")
    return { status: 405, type: plainText, body: `method ${method} not allowed\n` };
  const [path = "", query] = (request.url ?? "").split("?", 2);
  return route(path, new URLSearchParams(query)) ?? { status: 404, type: plainText, body: "not found\n" };
}

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
