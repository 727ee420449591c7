import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Json } from "../objects/json.ts";
import { decodeProtobuf } from "../objects/protobuf.ts";
import { StatusError } from "../objects/status-error.ts";
import type { ApiReply } from "../requests/api-call.ts";

/** A request as HTTP/1.1 or HTTP/2 brings it. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;

/** The answer to one. */
export type HttpResponse = ServerResponse | Http2ServerResponse;

/** Larger bodies are refused, as by the API server. */
const maxBodyBytes = 3 * 1024 * 1024;

/** Returns a header of a request; "" if it is absent. */
export function header(request: HttpRequest, name: string): string {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(",") : (value ?? "");
}

/** Sends an answer. Does nothing if the client has disconnected. */
export function sendAnswer(response: HttpResponse, reply: Extract<ApiReply, { type: "answer" }>): void {
  if (response.destroyed) return;
  const { status, body, contentType, warnings } = reply;
  response.statusCode = status;
  if (warnings.length > 0) response.setHeader("warning", [...warnings]);
  response.setHeader("content-type", contentType);
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** Returns the body of a request; undefined if it has none. Throws 400, 413 or 415 if the body cannot be read. */
export async function readBody(request: HttpRequest): Promise<Json | undefined> {
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
  if (type.includes("protobuf")) return decodeProtobuf(Buffer.concat(chunks));
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
