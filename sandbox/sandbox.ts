import { createServer } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { createFaults, type Faults } from "./http/faults.ts";
import { type ApiService, type SandboxRequest, serve } from "./http/http.ts";
import type { HttpRequest, HttpResponse } from "./http/http-messages.ts";
import { webhooksByUrl } from "./registry/webhook-call.ts";
import { type ApiServerOptions, startApiServer } from "./requests/api-server.ts";

export type { Fault, FaultAction, FaultyRequest } from "./http/faults.ts";
export type { SandboxRequest } from "./http/http.ts";

/** A running API server in this process. */
export interface Sandbox {
  /** The URL of the server, for example `http://127.0.0.1:41234`. */
  readonly url: string;
  /** A kubeconfig for it: an object whose JSON is valid YAML. */
  kubeconfig(): object;
  /** Whether workloads get Pods. */
  readonly hasControllers: boolean;
  /** Rules for requests that go wrong. */
  readonly faults: Faults;
  /** The last 100,000 requests, oldest first. */
  readonly requests: readonly SandboxRequest[];
  /** Breaks every connection, with the watches on them. */
  dropConnections(): void;
  /** Forgets all history: a watch that resumes from before now gets 410. */
  expireHistory(): void;
  /** Ends every connection and controller and stops listening. */
  close(): Promise<void>;
}

/** Options of a sandbox. */
export interface SandboxOptions extends ApiServerOptions {
  /** The port on 127.0.0.1; by default the kernel chooses a free one. */
  readonly port?: number;
  /** PEM texts of a certificate for 127.0.0.1; with them it serves HTTPS, HTTP/2 and HTTP/1.1 as the client prefers. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** Starts an API server in this process, with the namespaces of a new cluster. Rejects if the port is in use. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const apiServer = startApiServer({ webhooks: webhooksByUrl, ...options });
  const faults = createFaults();
  const requests: SandboxRequest[] = [];
  const record = (request: SandboxRequest) => {
    requests.push(request);
    if (requests.length > 110_000) requests.splice(0, 10_000);
  };
  const service: ApiService = { ...apiServer, faults, record };
  const { server, connections } = await createHttpServer(service, options.tls);
  const port = await listen(server, options.port ?? 0);
  const url = `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`;
  const dropConnections = () => {
    for (const socket of connections) socket.destroy();
  };
  return {
    url,
    kubeconfig: () => kubeconfigFor(url, options.tls?.cert),
    hasControllers: options.controllers ?? true,
    faults,
    requests,
    dropConnections,
    expireHistory: () => apiServer.registry.storage.expireHistory(),
    close: () => {
      apiServer.stop();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      dropConnections();
      return closed;
    },
  };
}

interface HttpServer {
  readonly server: Server;
  readonly connections: ReadonlySet<Socket>;
}

async function createHttpServer(service: ApiService, tls: SandboxOptions["tls"]): Promise<HttpServer> {
  const connections = new Set<Socket>();
  const track = (socket: Socket) => {
    connections.add(socket);
    socket.on("close", () => connections.delete(socket));
  };
  const onRequest = (request: HttpRequest, response: HttpResponse) => {
    // A connection that breaks in the middle of a body is the client's affair.
    request.on("error", () => {});
    response.on("error", () => {});
    void serve(service, request, response);
  };
  if (tls === undefined) {
    const server = createServer({ keepAliveTimeout: 60_000 }, onRequest);
    server.on("connection", track);
    return { server, connections };
  }
  const { createSecureServer } = await import("node:http2");
  const server = createSecureServer({ ...tls, allowHTTP1: true, settings: { maxConcurrentStreams: 100 } }, onRequest);
  server.on("secureConnection", track);
  server.on("sessionError", () => {});
  return { server, connections };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EADDRINUSE") return reject(cause);
      reject(
        new Error(`the sandbox cannot listen on 127.0.0.1:${port}: the port is in use; choose another`, { cause }),
      );
    });
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

function kubeconfigFor(server: string, certificate: string | undefined): object {
  const authority =
    certificate === undefined ? {} : { "certificate-authority-data": Buffer.from(certificate).toString("base64") };
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "sandbox", cluster: { server, ...authority } }],
    users: [{ name: "sandbox", user: {} }],
    contexts: [{ name: "sandbox", context: { cluster: "sandbox", user: "sandbox", namespace: "default" } }],
    "current-context": "sandbox",
  };
}
