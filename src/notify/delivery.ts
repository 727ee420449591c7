import type { ClientRequest, IncomingMessage } from "node:http";
import type { Clock } from "../lib/clock.ts";
import { errorText } from "../telemetry/logging/error-text.ts";

/** How one request ended. */
export type Delivery =
  | { readonly result: "sent" }
  /** It may go well later: after `retryAfterMs` where the server said so. */
  | { readonly result: "later"; readonly why: string; readonly retryAfterMs: number | undefined }
  /** It would go the same way again. */
  | { readonly result: "failed"; readonly why: string };

/** What is sent where. */
export interface DeliveryRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly ca: string | undefined;
}

/** How long a server may take to answer, connecting included. */
const timeoutMs = 10_000;

/** A server that asks for more is asked again all the same: what waits meanwhile gets old. */
const longestRetryAfterMs = 300_000;

/**
 * Sends one POST on a connection of its own and looks at nothing but the status of the answer. A redirection is not
 * followed: the headers, and the URL itself, are secrets of that one server. Never rejects.
 */
export function deliver(request: DeliveryRequest, clock: Clock, signal: AbortSignal): Promise<Delivery> {
  const { promise, resolve } = Promise.withResolvers<Delivery>();
  const later = (why: string) => resolve({ result: "later", why, retryAfterMs: undefined });
  if (signal.aborted) later("there is no time left");
  const sent = signal.aborted
    ? undefined
    : open(request, (error) => resolve({ result: "failed", why: errorText(error) }));
  const end = (why: string) => {
    later(why);
    sent?.destroy();
  };
  const cancel = clock.timer(timeoutMs, () => end(`no answer within ${timeoutMs / 1000} s`));
  const giveUp = () => end("there was no time left to wait for an answer");
  signal.addEventListener("abort", giveUp, { once: true });
  sent?.once("response", (answer: IncomingMessage) => {
    resolve(judged(answer, clock));
    // Whatever it says besides, and however long.
    sent.destroy();
  });
  sent?.on("error", (error) => later(errorText(error)));
  sent?.once("close", () => later("the connection was closed before an answer came"));
  sent?.end(request.body);
  return promise.finally(() => {
    cancel();
    signal.removeEventListener("abort", giveUp);
  });
}

function open(request: DeliveryRequest, onRefused: (error: unknown) => void): ClientRequest | undefined {
  try {
    return begin(request);
  } catch (error) {
    onRefused(error);
    return undefined;
  }
}

function begin({ url, headers, body, ca }: DeliveryRequest): ClientRequest {
  // Not imported as ES modules, which would also load all that node:http offers lazily: 13 MiB.
  const secure = url.protocol === "https:";
  const { request } = secure ? process.getBuiltinModule("node:https") : process.getBuiltinModule("node:http");
  const length = { "content-length": String(Buffer.byteLength(body)) };
  return request(url, {
    method: "POST",
    agent: false,
    headers: { ...headers, ...length },
    ...(secure && ca && { ca }),
  });
}

function judged({ statusCode: status = 0, headers }: IncomingMessage, clock: Clock): Delivery {
  if (status >= 200 && status < 300) return { result: "sent" };
  const why = status >= 300 && status < 400 ? `HTTP ${status}: a redirection, which is not followed` : `HTTP ${status}`;
  if (status !== 408 && status !== 429 && status < 500) return { result: "failed", why };
  return { result: "later", why, retryAfterMs: retryAfterMs(headers["retry-after"], clock) };
}

/** https://www.rfc-editor.org/rfc/rfc9110#field.retry-after: seconds, or a date. */
function retryAfterMs(text: string | undefined, clock: Clock): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - clock.wall();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), longestRetryAfterMs);
}
