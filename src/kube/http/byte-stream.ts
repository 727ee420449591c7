import type { OpenResponse } from "./open-request.ts";
import type { Reachability } from "./reachability.ts";
import { toRequestError } from "./request-error.ts";
import type { RequestGuard } from "./request-guard.ts";
import type { RequestInfo } from "./request-info.ts";
import { chunksOf } from "./response-body.ts";

/** The body of a response as a stream. Early disposal cancels the request. */
export interface ByteStream extends AsyncIterable<Buffer>, AsyncDisposable {}

/** Returns the body of an open response. The signal, the guard or the reader may end it. The loop throws what a request throws. */
export function byteStream(
  opened: OpenResponse,
  info: RequestInfo,
  guard: RequestGuard,
  {
    signal,
    reachability,
  }: { readonly signal: AbortSignal | undefined; readonly reachability: Reachability | undefined },
): ByteStream {
  const end = () => {
    guard.release();
    if (!opened.response.body.readableEnded) opened.cancel(new Error("the response is no longer needed"));
  };
  // A connection may break between two reads, when there is no other listener.
  opened.response.body.on("error", () => {});
  return {
    async *[Symbol.asyncIterator]() {
      try {
        for await (const part of chunksOf(opened.response)) {
          reachability?.responded();
          yield part;
        }
      } catch (error) {
        const failure = toRequestError(error, info, guard, signal);
        reachability?.failed(failure);
        throw failure;
      } finally {
        end();
      }
    },
    [Symbol.asyncDispose]: async () => end(),
  };
}
