import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { createServer } from "node:https";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { listen, serveHttp } from "../kube/server.ts";

/** A request that an endpoint received. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** How an endpoint answers: with a status and headers, or never. */
export type Answer = { readonly status: number; readonly headers?: Readonly<Record<string, string>> } | "never";

/**
 * An endpoint on 127.0.0.1 that records the requests it receives. It uses `answers` in order, then answers 200.
 * For tests only.
 */
export async function startEndpoint(answers: Answer[] = [], tls?: { readonly cert: string; readonly key: string }) {
  const received: Received[] = [];
  const take: RequestListener = async (request, response) => {
    const body = JSON.parse(await text(request));
    received.push({ path: request.url ?? "", headers: request.headers, body });
    const answer = answers.shift() ?? { status: 200 };
    if (answer !== "never") response.writeHead(answer.status, answer.headers).end("thank you");
  };
  const { port, close } = await (tls === undefined ? serveHttp(take) : listen(createServer(tls, take)));
  onTestFinished(close);
  return { url: `http${tls === undefined ? "" : "s"}://127.0.0.1:${port}/secret-path`, port, received };
}
