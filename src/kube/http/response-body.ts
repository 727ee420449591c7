import type { Clock } from "../../lib/clock.ts";
import type { Status } from "../api/api-types.ts";
import { ApiError } from "../api/errors.ts";
import type { TransportResponse } from "./transport.ts";

/** The whole of a body; undefined as soon as it is longer than `limit` bytes, and then the request is ended. Rejects where it breaks off. */
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
      resolve(undefined);
      body.destroy();
    });
    body.once("end", () => {
      ended = true;
      if (!isComplete()) reject(truncatedError());
      else resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    });
    body.once("error", reject);
    body.once("close", () => {
      if (!ended) reject(truncatedError());
    });
  });
}

/** A body as it comes; throws where it breaks off. */
export async function* chunksOf({ body, isComplete }: TransportResponse): AsyncGenerator<Buffer> {
  try {
    yield* body as AsyncIterable<Buffer>;
  } catch (error) {
    // An HTTP/2 stream whose answer came at once is closed before anybody reads it. Node.js takes that for a premature end of
    // whoever begins to read then, also when all of it was read.
    const isPremature = error instanceof Error && "code" in error && error.code === "ERR_STREAM_PREMATURE_CLOSE";
    if (!isPremature || !isComplete() || body.readableLength > 0) throw error;
  }
  if (!isComplete()) throw truncatedError();
}

/** What is wrong with a body that ends before its end. */
export function truncatedError(): Error {
  return new Error("the connection ended in the middle of an answer");
}

/** Makes the error of a failed request out of its answer; what is not a Status of an API server is named as such. */
export function toApiError(request: string, response: TransportResponse, body: Buffer, clock: Clock): ApiError {
  const { status, headers } = response;
  const retryAfterMs = retryAfter(headers["retry-after"], clock);
  const answer = parseStatus(body);
  if (answer !== undefined) {
    const seconds = answer.details?.retryAfterSeconds;
    return new ApiError({
      request,
      status,
      reason: answer.reason ?? "",
      serverMessage: answer.message ?? "",
      retryAfterMs: retryAfterMs ?? (seconds ? seconds * 1000 : undefined),
      details: answer.details,
    });
  }
  const type = String(headers["content-type"] ?? "").split(";")[0];
  const text = type === "text/plain" ? (body.toString("utf8", 0, 300).split("\n")[0] ?? "").trim() : "";
  const serverMessage = text || `the answer is not one of an API server (${type || "no content type"})`;
  return new ApiError({ request, status, reason: "", serverMessage, retryAfterMs });
}

function parseStatus(body: Buffer): Status | undefined {
  try {
    const parsed: Status | null = JSON.parse(body.toString());
    return parsed?.kind === "Status" ? parsed : undefined;
  } catch {
    return undefined; // not JSON: the caller says what it is
  }
}

/** Milliseconds of a Retry-After header, in seconds or as a date (RFC 9110, 10.2.3). */
function retryAfter(header: string | string[] | undefined, clock: Clock): number | undefined {
  if (typeof header !== "string") return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock.wall());
}
