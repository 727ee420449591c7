import type { IncomingMessage, ServerResponse } from "node:http";
import { maxBodyBytes } from "./admission-limits.ts";

/** What is answered to a request. */
export interface Reply {
  readonly status: number;
  /** The JSON of a review, or one line of text. */
  readonly text: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** To those who do not know the path. */
export const unknownPath: Reply = { status: 404, text: "no such path" };

/** Why a request is answered without a look at its body, of `length` bytes; NaN where its head does not say. */
export function refusal({ method, headers }: IncomingMessage, length: number): Reply | undefined {
  if (method !== "POST") return { status: 405, text: "only POST is answered", headers: { Allow: "POST" } };
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json") return { status: 415, text: "the Content-Type must be application/json" };
  if (Number.isNaN(length)) return { status: 411, text: "the Content-Length must be said" };
  if (length > maxBodyBytes) return { status: 413, text: `the body is larger than ${maxBodyBytes} bytes` };
  return undefined;
}

/** Answers without a look at the body, which therefore ends the connection. */
export function turnAway(response: ServerResponse, refused: Reply): void {
  reply(response, refused, { last: true });
}

/** Answers; where it is the `last` answer on its connection, the client is told so before the connection ends. */
export function reply(
  response: ServerResponse,
  { status, text, type = "text/plain; charset=utf-8", headers }: Reply,
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
  // As a string: head and body then leave in one write.
  response.end(body);
}
