import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { sleep } from "../lib/clock.ts";
import { discoveryContentType, discoveryDocument } from "./discovery.ts";
import type { FaultAction, FaultRules } from "./faults.ts";
import type { Json, JsonObject } from "./json.ts";
import { openApiDocument } from "./openapi.ts";
import type { Registry } from "./registry.ts";
import { representationOf, watchRepresentation } from "./representation.ts";
import { isTrue, parseTarget, type Target, verbOf } from "./request-info.ts";
import { methodNotAllowed, noSuchPath, StatusError, unsupportedMediaType } from "./status-error.ts";
import { answer } from "./verbs.ts";
import { startWatch } from "./watch.ts";

/** A request as HTTP/1.1 or HTTP/2 brings it. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;
type HttpResponse = ServerResponse | Http2ServerResponse;

/** One request that the sandbox answered, in Kubernetes' words; a watch counts when it starts. */
export interface SandboxRequest {
  readonly verb: string;
  /** The plural of the kind; the path where it names none. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
  readonly userAgent: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What answers requests. */
export interface ApiService {
  readonly registry: Registry;
  readonly faults: FaultRules;
  readonly bookmarkMs: number;
  readonly record: (request: SandboxRequest) => void;
}

/** Larger bodies are refused, as by the API server. */
const maxBodyBytes = 3 * 1024 * 1024;
/** A watcher that reads nothing for so many bytes is cut off. */
const maxBacklogBytes = 64 * 1024 * 1024;

/** Answers one request. Never rejects: what goes wrong is the answer. */
export async function serve(service: ApiService, request: HttpRequest, response: HttpResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://sandbox");
  const method = request.method ?? "GET";
  const target = parseTarget(url.pathname);
  const named = target.type === "resource" && target.name !== undefined;
  const verb = verbOf(method, named, isTrue(url.searchParams.get("watch")));
  const record = (status: number) => service.record(recorded(service, request, target, verb, status));
  try {
    const fault = service.faults.take({ method, path: url.pathname, query: url.searchParams });
    if (fault !== undefined && !(await survives(fault, service, request, response, record))) return;
    if (target.type === "path") {
      sendPath(url.pathname, method, request, response, record);
      return;
    }
    if (verb === "watch") {
      watch(service, target, url.searchParams, request, response, record);
      return;
    }
    const body = method === "GET" ? undefined : await readBody(request);
    const warnings: string[] = [];
    const { status, body: result } = answer(service.registry, {
      verb,
      target,
      query: url.searchParams,
      accept: header(request, "accept"),
      contentType: header(request, "content-type"),
      userAgent: header(request, "user-agent"),
      body,
      warn: (text) => warnings.push(`299 - ${JSON.stringify(text)}`),
    });
    if (warnings.length > 0) response.setHeader("warning", warnings);
    record(status);
    send(response, status, result);
  } catch (error) {
    const refused = error instanceof StatusError ? error : new StatusError(500, "InternalError", String(error), {});
    record(refused.code);
    send(response, refused.code, refused.body());
  }
}

function header(request: HttpRequest, name: string): string {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(",") : (value ?? "");
}

function recorded(
  service: ApiService,
  request: HttpRequest,
  target: Target,
  verb: string,
  status: number,
): SandboxRequest {
  const common = { verb, status, userAgent: header(request, "user-agent"), at: service.registry.clock.wall() };
  if (target.type === "path") return { ...common, resource: target.path };
  const { resource, namespace, name, subresource } = target;
  return {
    ...common,
    resource: resource.plural,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

/** Carries out a fault; whether the request is answered as usual after it. */
async function survives(
  fault: FaultAction,
  service: ApiService,
  request: HttpRequest,
  response: HttpResponse,
  record: (status: number) => void,
): Promise<boolean> {
  switch (fault.type) {
    case "delay":
      await sleep(service.registry.clock, fault.ms);
      return true;
    case "drop":
      record(0);
      if ("stream" in request) request.stream.session?.destroy();
      else request.socket.destroy();
      return false;
    case "blackHole":
      record(0);
      return false;
    case "status": {
      if (fault.retryAfterSeconds !== undefined) response.setHeader("retry-after", String(fault.retryAfterSeconds));
      const details = fault.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: fault.retryAfterSeconds };
      throw new StatusError(fault.status, reasons[fault.status], "refused by a fault rule of the sandbox", details);
    }
  }
}

const reasons: { readonly [status: number]: string } = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

function send(response: HttpResponse, status: number, body: JsonObject, contentType = "application/json"): void {
  if (response.destroyed) return;
  response.statusCode = status;
  response.setHeader("content-type", contentType);
  response.end(JSON.stringify(body));
}

const version = {
  major: "1",
  minor: "36",
  gitVersion: "v1.36.0+wave-sandbox",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "none",
  platform: "none",
};

function sendPath(
  path: string,
  method: string,
  request: HttpRequest,
  response: HttpResponse,
  record: (status: number) => void,
): void {
  const health = ["/healthz", "/readyz", "/livez"].includes(path);
  const document =
    path === "/version" ? version : (discoveryDocument(path, header(request, "accept")) ?? openApiDocument(path));
  if (!health && document === undefined) throw noSuchPath();
  if (method !== "GET" && method !== "HEAD") throw methodNotAllowed();
  record(200);
  if (document !== undefined) {
    send(response, 200, document, discoveryContentType(document));
    return;
  }
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.end("ok");
}

function watch(
  service: ApiService,
  target: Extract<Target, { type: "resource" }>,
  query: URLSearchParams,
  request: HttpRequest,
  response: HttpResponse,
  record: (status: number) => void,
): void {
  const { resource, namespace, name } = target;
  // A watch of one name is a watch with a field selector.
  if (name !== undefined) query.set("fieldSelector", `metadata.name=${name}`);
  const { clock, random, storage } = service.registry;
  const represent = watchRepresentation(representationOf(header(request, "accept"), query), resource, clock.wall);
  const lines: string[] = [];
  let started = false;
  const write = (line: string) => {
    if (!started) lines.push(line);
    else if (response.writableLength > maxBacklogBytes) response.destroy();
    else writeTo(response, line);
  };
  let ended = false;
  const sink = {
    send: (event: Parameters<typeof represent>[0]) => write(`${JSON.stringify(represent(event))}\n`),
    end: () => {
      ended = true;
      if (started) response.end();
    },
  };
  const stop = startWatch(
    storage,
    { resource, namespace, query },
    { clock, random, bookmarkMs: service.bookmarkMs },
    sink,
  );
  response.on("close", stop);
  record(200);
  started = true;
  response.statusCode = 200;
  response.setHeader("content-type", "application/json");
  if ("flushHeaders" in response) response.flushHeaders();
  for (const line of lines) writeTo(response, line);
  if (ended) response.end();
}

async function readBody(request: HttpRequest): Promise<Json | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBodyBytes) {
      throw new StatusError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${maxBodyBytes}`, {});
    }
    chunks.push(chunk);
  }
  if (length === 0) return undefined;
  const type = header(request, "content-type");
  if (type.includes("protobuf")) throw unsupportedMediaType();
  const text = Buffer.concat(chunks).toString();
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (!type.includes("yaml")) throw badJson(error);
  }
  // Only bodies in YAML pay for its parser.
  const { parse } = await import("yaml");
  return parse(text) as Json;
}

function badJson(error: unknown): StatusError {
  // The parser's own message quotes the text, which may hold a Secret's value.
  const why = error instanceof SyntaxError ? "it is not JSON" : String(error);
  return new StatusError(400, "BadRequest", `the request body cannot be read: ${why}`);
}

function writeTo(response: HttpResponse, line: string): void {
  // The two kinds of response have the same method under types that do not unite.
  if ("stream" in response) response.write(line);
  else response.write(line);
}
