import { methodNotAllowed, noSuchPath } from "../objects/status-error.ts";
import { discoveryContentType, discoveryDocument } from "./discovery.ts";
import { openApiDocument } from "./openapi.ts";

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
export function pathDocument(path: string, method: string, accept: string) {
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
