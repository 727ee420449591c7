import type { IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { serveHttp } from "../kube/test-server.ts";

/** What an endpoint was sent. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** How an endpoint answers: by a status and headers, or never. */
export type Answer = { readonly status: number; readonly headers?: Readonly<Record<string, string>> } | "never";

/**
 * An endpoint on 127.0.0.1 that keeps what it is sent; `answers` are used up in turn, then it answers 200. Only tests
 * import this file.
 */
export async function startEndpoint(answers: Answer[] = []) {
  const received: Received[] = [];
  const { port, close } = await serveHttp(async (request, response) => {
    const body = JSON.parse(await text(request));
    received.push({ path: request.url ?? "", headers: request.headers, body });
    const answer = answers.shift() ?? { status: 200 };
    if (answer !== "never") response.writeHead(answer.status, answer.headers).end("thank you");
  });
  onTestFinished(close);
  return { url: `http://127.0.0.1:${port}/secret-path`, port, received };
}
