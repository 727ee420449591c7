import type { Status } from "#kubernetes";
import type { Clock } from "../../lib/clock.ts";
import { ApiError, foreignResponseText, statusError } from "../api/api-failure.ts";
import type { KubeList } from "../api/resources.ts";
import type { RequestInfo } from "./api-request.ts";
import { maxObjectBytes } from "./json-bytes.ts";
import type { TransportResponse } from "./transport.ts";
import { type DigestedKind, parseJson } from "./value-digests.ts";

/**
 * Returns the whole body, in memory that the caller may overwrite; undefined if it exceeds `limit` bytes. The rest
 * is then read and overwritten, up to {@link maxObjectBytes}. Rejects if the body is truncated.
 */
export function readBody({ body, isComplete }: TransportResponse, limit: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let ended = false;
    body.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) {
        chunks.push(chunk);
        return;
      }
      // A canceled request would leave what has arrived in the memory of Node.js.
      chunk.fill(0);
      overwrite(chunks);
      resolve(undefined);
      if (length > maxObjectBytes) body.destroy();
    });
    body.on("end", () => {
      ended = true;
      if (!isComplete()) reject(truncatedError());
      else if (length <= limit) resolve(Buffer.concat(chunks));
      overwrite(chunks);
    });
    body.on("error", reject);
    body.on("close", () => {
      overwrite(chunks);
      if (!ended) reject(truncatedError());
    });
  });
}

/** Overwrites and removes chunks, because they may be a Secret. */
function overwrite(chunks: Buffer[]): void {
  for (const chunk of chunks.splice(0)) chunk.fill(0);
}

/** Yields the chunks of a body, each until the next one is requested: then it is overwritten. Throws if the body is truncated. */
export async function* chunksOf({ body, isComplete }: TransportResponse): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      try {
        yield chunk;
      } finally {
        chunk.fill(0);
      }
    }
  } catch (error) {
    // An HTTP/2 stream with a fast response is closed before the first read. Node.js reports that as a premature end to a
    // reader that starts then, even if the reader gets everything.
    const isPremature = error instanceof Error && "code" in error && error.code === "ERR_STREAM_PREMATURE_CLOSE";
    if (!isPremature || !isComplete() || body.readableLength > 0) throw error;
  }
  if (!isComplete()) throw truncatedError();
}

function truncatedError(): Error {
  return new Error("the connection ended in the middle of a response");
}

/** Returns the media type of a response, such as "application/json"; "" if it has none. */
export function mediaTypeOf({ headers }: Pick<TransportResponse, "headers">): string {
  return (String(headers["content-type"] ?? "").split(";")[0] ?? "").trim();
}

/**
 * Returns the error of a failed request from its response. An API server sends a Status, and a plain text if it limits the request rate,
 * has a bug, or does not serve the path. Only the last is also the text of other servers, which have no audit ID.
 */
export function toApiError(request: string, response: TransportResponse, body: Buffer, clock: Clock): ApiError {
  const { status, headers } = response;
  const retryAfterMs = retryAfter(headers["retry-after"], clock);
  const parsed = parseStatus(body);
  if (parsed !== undefined) return statusError(request, status, parsed, retryAfterMs);
  const type = mediaTypeOf(response);
  const text = type === "text/plain" ? (body.toString("utf8", 0, 300).split("\n")[0] ?? "").trim() : "";
  const reason = status === 404 && headers["audit-id"] !== undefined ? "NotFound" : "";
  const isForeign = text === "" || (reason === "" && status !== 429 && status !== 500);
  const serverMessage = isForeign ? foreignResponseText(type, text && JSON.stringify(text)) : text;
  return new ApiError({ request, status, reason, serverMessage, retryAfterMs });
}

function parseStatus(body: Buffer): Status | undefined {
  try {
    const parsed: Status | null = JSON.parse(body.toString());
    return parsed?.kind === "Status" ? parsed : undefined;
  } catch {
    return undefined; // not JSON: the caller reports the content type
  }
}

/** Returns a Retry-After header in milliseconds. It has seconds or a date (RFC 9110, 10.2.3). */
function retryAfter(header: string | string[] | undefined, clock: Clock): number | undefined {
  if (typeof header !== "string") return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock.wall());
}

type ResponseHead = Pick<TransportResponse, "status" | "headers">;

/** Returns the error for a response with status 2xx that no API server sends, such as a login page. `what` describes its body. */
export function foreignResponse(request: string, response: ResponseHead, what = ""): ApiError {
  const serverMessage = foreignResponseText(mediaTypeOf(response), what);
  return new ApiError({ request, status: response.status, reason: "", serverMessage });
}

/** Reports whether a response may be JSON. As in client-go, a response without a media type may be. */
export function isJson(response: ResponseHead): boolean {
  return ["", "application/json"].includes(mediaTypeOf(response));
}

/**
 * Returns the parsed body of a response with status 2xx, and overwrites the bytes. An object has metadata with a name, and a list has items.
 * @throws ApiError for any other body. The error has no part of the body, which may be a Secret.
 */
export function parseResponse(body: Buffer, info: RequestInfo, response: ResponseHead, digestsOf?: DigestedKind) {
  const parsed = parseJson(body, digestsOf);
  body.fill(0);
  const mistake = mistakeOf(parsed, info);
  if (mistake !== undefined) throw foreignResponse(info.text, response, mistake);
  return parsed;
}

function mistakeOf(parsed: unknown, { verb, target }: RequestInfo): string | undefined {
  if (parsed === undefined) return "not JSON";
  if (verb === "list") return isList(parsed) ? undefined : notList;
  const isStored = target === "object" && ["get", "update", "patch"].includes(verb);
  return (isStored ? isNamed(parsed) : parsed !== null) ? undefined : "not an object";
}

function isNamed(parsed: unknown): boolean {
  return isMapping(parsed) && isMapping(parsed.metadata) && typeof parsed.metadata.name === "string";
}

/** Describes the body of a response that is no list. */
export const notList = "not a list";

/** Reports whether a parsed body is a list. A list without objects may have `null` as items. */
export function isList(parsed: unknown): parsed is KubeList<never> {
  return isMapping(parsed) && isMapping(parsed.metadata) && (parsed.items === null || Array.isArray(parsed.items));
}

/** Reports whether parsed JSON is an object. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
