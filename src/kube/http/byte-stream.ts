import type { OpenResponse } from "./open-request.ts";
import type { Reachability } from "./reachability.ts";
import { toRequestError } from "./request-error.ts";
import type { RequestGuard } from "./request-guard.ts";
import type { RequestInfo } from "./request-info.ts";
import { chunksOf } from "./response-body.ts";

/** The body of an answer as it comes. Disposing of it early cancels the request. */
export interface ByteStream extends AsyncIterable<Buffer>, AsyncDisposable {}

/** The body of an answer that is open, which the signal, the guard and whoever reads it may end. Throws out of the loop what a request throws. */
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
    if (!opened.response.body.readableEnded) opened.cancel(new Error("not wanted any more"));
  };
  // Between two reads nobody else listens, and a connection may break at any moment.
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
