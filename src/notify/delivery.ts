import type { ClientRequest, IncomingMessage } from "node:http";
import type { Clock } from "../lib/clock.ts";
import { errorText } from "../telemetry/logging/log-messages.ts";

/** The result of one request. */
export type Delivery =
  | { readonly result: "sent" }
  /** A retry may succeed, after `retryAfterMs` if the server sent that. */
  | { readonly result: "retry"; readonly why: string; readonly retryAfterMs: number | undefined }
  /** A retry would fail again. */
  | { readonly result: "failed"; readonly why: string };

/** One POST to a receiver. The URL and the headers may contain secrets. `ca` is in PEM; undefined: the default authorities of Node.js. */
export interface DeliveryRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly ca: string | undefined;
}

/** Timeout of a request, including the connection, in milliseconds. */
const timeoutMs = 10_000;

/** Maximum wait for a retry, even if the server requests more, because waiting notifications become outdated. */
const maxRetryAfterMs = 300_000;

/** Sends one POST on a new connection. Follows no redirects: the headers and the URL are secrets of that server. Never rejects. */
export function deliver(request: DeliveryRequest, clock: Clock, signal: AbortSignal): Promise<Delivery> {
  const { promise, resolve } = Promise.withResolvers<Delivery>();
  const retry = (why: string) => resolve({ result: "retry", why, retryAfterMs: undefined });
  if (signal.aborted) retry("no time left");
  const sent = signal.aborted
    ? undefined
    : open(request, (error) => resolve({ result: "failed", why: errorText(error) }));
  const end = (why: string) => {
    retry(why);
    sent?.destroy();
  };
  const cancel = clock.timer(timeoutMs, () => end(`no response within ${timeoutMs / 1000} s`));
  const giveUp = () => end("no time left to wait for a response");
  signal.addEventListener("abort", giveUp, { once: true });
  sent?.once("response", (response: IncomingMessage) => {
    resolve(deliveryOf(response, clock));
    // Ignores the body, however long it is.
    sent.destroy();
  });
  sent?.on("error", (error) => retry(errorText(error)));
  sent?.once("close", () => retry("the connection closed before a response"));
  sent?.end(request.body);
  return promise.finally(() => {
    cancel();
    signal.removeEventListener("abort", giveUp);
  });
}

function open(delivery: DeliveryRequest, onInvalid: (error: unknown) => void): ClientRequest | undefined {
  const { url, headers, body, ca } = delivery;
  // Not imported as ES modules, which would also load all that node:http offers lazily: 13 MiB.
  const secure = url.protocol === "https:";
  const { request } = secure ? process.getBuiltinModule("node:https") : process.getBuiltinModule("node:http");
  const length = { "content-length": String(Buffer.byteLength(body)) };
  try {
    return request(url, {
      method: "POST",
      agent: false,
      headers: { ...headers, ...length },
      ...(secure && ca && { ca }),
    });
  } catch (error) {
    onInvalid(error);
    return undefined;
  }
}

function deliveryOf({ statusCode: status = 0, headers }: IncomingMessage, clock: Clock): Delivery {
  if (status >= 200 && status < 300) return { result: "sent" };
  const why = status >= 300 && status < 400 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
  if (status !== 408 && status !== 429 && status < 500) return { result: "failed", why };
  return { result: "retry", why, retryAfterMs: retryAfterMs(headers["retry-after"], clock) };
}

/** https://www.rfc-editor.org/rfc/rfc9110#field.retry-after: seconds, or a date. */
function retryAfterMs(text: string | undefined, clock: Clock): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - clock.wall();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), maxRetryAfterMs);
}
