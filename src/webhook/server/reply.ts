import type { IncomingMessage, ServerResponse } from "node:http";
import { maxBodyBytes } from "./admission-limits.ts";

/** The response to an HTTP request. */
export interface HttpReply {
  readonly status: number;
  /** The JSON of a review, or one line of text. */
  readonly text: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The response to a request at an unknown path. */
export const unknownPath: HttpReply = { status: 404, text: "unknown path" };

/** Returns the response to a request that is rejected by its head; undefined if its body must be read. `length` is NaN without a Content-Length. */
export function rejectionOf({ method, headers }: IncomingMessage, length: number): HttpReply | undefined {
  if (method !== "POST") return { status: 405, text: "the method must be POST", headers: { Allow: "POST" } };
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json") return { status: 415, text: "the Content-Type must be application/json" };
  if (Number.isNaN(length)) return { status: 411, text: "the Content-Length is missing" };
  if (length > maxBodyBytes) return { status: 413, text: `the body is larger than ${maxBodyBytes} bytes` };
  return undefined;
}

/** Answers without reading the body, so the connection ends. */
export function reject(response: ServerResponse, rejection: HttpReply): void {
  reply(response, rejection, { last: true });
}

/** Sends a reply. If this is the `last` response on its connection, the header announces that the connection ends. */
export function reply(
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
