import { isObject, type Json, type JsonObject } from "../objects/json.ts";
import { resources } from "../objects/resources.ts";
import { methodNotAllowed, noSuchPath, StatusError } from "../objects/status-error.ts";
import type { ApiServer } from "./api-server.ts";
import { discoveryContentType, discoveryDocument } from "./discovery.ts";
import { openApiDocument } from "./openapi.ts";
import { representationOf, watchRepresentation } from "./representation.ts";
import { isTrue, parseTarget, type Target, verbOf } from "./request-info.ts";
import { answer } from "./verbs.ts";
import { startWatch } from "./watch.ts";

/** One request, whatever carries it. */
export interface ApiCall {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Returns a header by its lower-case name; "" if it is absent. */
  readonly header: (name: string) => string;
  /** Throws a `StatusError` if it cannot be read. */
  readonly body: () => Promise<Json | undefined>;
}

/** Where the lines of a watch go, each a JSON text without its end. */
export interface LineSink {
  send(line: string): void;
  /** The watch has run its time or failed. */
  end(): void;
}

/** What is answered to a request. */
export type ApiReply =
  | {
      readonly type: "answer";
      readonly status: number;
      readonly body: JsonObject | string;
      readonly contentType: string;
      /** Values of Warning headers. */
      readonly warnings: readonly string[];
    }
  /** 200, and lines until the sink receives the end or the returned function is called. Throws a `StatusError`. */
  | { readonly type: "watch"; readonly start: (sink: LineSink) => () => void };

/** The verb and the resource of a request, in the terms of Kubernetes. */
export interface Asked {
  readonly verb: string;
  readonly target: Target;
}

/** Reads what a request asks for. */
export function askedBy({ method, path, query }: Pick<ApiCall, "method" | "path" | "query">): Asked {
  const target = parseTarget(path);
  const named = target.type === "resource" && target.name !== undefined;
  return { target, verb: verbOf(method, named, isTrue(query.get("watch"))) };
}

/** Answers one request. Never rejects: what goes wrong is the answer. */
export async function answerCall(
  service: Pick<ApiServer, "registry" | "bookmarkMs" | "servesWidgets">,
  call: ApiCall,
  { verb, target }: Asked = askedBy(call),
): Promise<ApiReply> {
  try {
    if (isOfWidgets(call.path) && !service.servesWidgets?.()) throw noSuchPath();
    if (target.type === "path") return { ...pathDocument(call.path, call.method, call.header("accept")), warnings: [] };
    if (verb === "watch") return watchReply(service, call, target);
    const body = call.method === "GET" ? undefined : await call.body();
    const warnings: string[] = [];
    const answered = await answer(service.registry, {
      verb,
      target,
      query: call.query,
      accept: call.header("accept"),
      contentType: call.header("content-type"),
      userAgent: call.header("user-agent"),
      body,
      warn: (text) => warnings.push(`299 - ${JSON.stringify(text)}`),
    });
    return { type: "answer", ...answered, contentType: "application/json", warnings };
  } catch (error) {
    return refusal(error);
  }
}

function isOfWidgets(path: string): boolean {
  return `${path}/`.replace(/^\/openapi\/v3/, "").startsWith(`/apis/${resources.widgets.group}/`);
}

/** Converts a thrown error into an answer. An error that is not a `StatusError` becomes a 500. */
export function refusal(error: unknown): Extract<ApiReply, { type: "answer" }> {
  const refused = error instanceof StatusError ? error : new StatusError(500, "InternalError", String(error), {});
  return { type: "answer", status: refused.code, body: refused.body(), contentType: "application/json", warnings: [] };
}

function watchReply(
  { registry, bookmarkMs }: Pick<ApiServer, "registry" | "bookmarkMs">,
  { query, header }: ApiCall,
  { resource, namespace, name }: Extract<Target, { type: "resource" }>,
): ApiReply {
  // A watch of one name is a watch with a field selector.
  if (name !== undefined) query.set("fieldSelector", `metadata.name=${name}`);
  const { clock, random, storage } = registry;
  const form = representationOf(header("accept"), query);
  const start = (sink: LineSink) => {
    const represent = watchRepresentation(form, resource, clock.wall);
    return startWatch(
      storage,
      { resource, namespace, query },
      { clock, random, bookmarkMs },
      { send: (event) => sink.send(lineOf(represent(event))), end: () => sink.end() },
    );
  };
  return { type: "watch", start };
}

/** The text of an object that was sent once: what is stored never changes in place, and every watch sends the same. */
const texts = new WeakMap<object, string>();

function lineOf({ type, object }: JsonObject): string {
  if (!isObject(object)) return JSON.stringify({ type, object });
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return `{"type":${JSON.stringify(type)},"object":${text}}`;
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

/** Answers a path that names no object: discovery, OpenAPI, version, health. Throws 404 for an unknown path, 405 on a write. */
function pathDocument(path: string, method: string, accept: string) {
  const health = ["/healthz", "/readyz", "/livez"].includes(path);
  const document = path === "/version" ? version : (discoveryDocument(path, accept) ?? openApiDocument(path));
  if (!health && document === undefined) throw noSuchPath();
  if (method !== "GET" && method !== "HEAD") throw methodNotAllowed();
  const found =
    document === undefined
      ? { body: "ok", contentType: "text/plain; charset=utf-8" }
      : { body: document, contentType: discoveryContentType(document) };
  return { type: "answer", status: 200, ...found } as const;
}
