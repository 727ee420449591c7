import { discoveryContentType, discoveryDocument } from "./discovery.ts";
import { type HttpRequest, type HttpResponse, header, send } from "./http-messages.ts";
import { openApiDocument } from "./openapi.ts";
import { methodNotAllowed, noSuchPath } from "./status-error.ts";

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

/** Answers what is no object: discovery, OpenAPI, version, health. Throws 404 where the path is nothing, 405 on a write. */
export function sendPath(path: string, method: string, request: HttpRequest, response: HttpResponse): void {
  const health = ["/healthz", "/readyz", "/livez"].includes(path);
  const document =
    path === "/version" ? version : (discoveryDocument(path, header(request, "accept")) ?? openApiDocument(path));
  if (!health && document === undefined) throw noSuchPath();
  if (method !== "GET" && method !== "HEAD") throw methodNotAllowed();
  if (document !== undefined) {
    send(response, 200, document, discoveryContentType(document));
    return;
  }
  response.setHeader("content-type", "text/plain; charset=utf-8");
  response.end("ok");
}
