import { logMessages } from "../../telemetry/logging/log-messages.ts";
import type { KubeObject, WatchEvent } from "../api/api-types.ts";
import type { ApiRequest } from "../http/api-request.ts";
import { ChunkBuffer } from "../http/chunk-buffer.ts";
import type { ApiClient } from "../http/client.ts";
import type { ByteStream } from "../http/open-request.ts";
import { type DigestedKind, parseJson } from "../http/value-digests.ts";
import { withIdleTimeout } from "./idle-timeout.ts";
import type { WatchContext } from "./watch-context.ts";

/** Maximum time without data. Bookmarks arrive about every minute, so a longer silence means that the peer is lost. */
const silenceLimitMs = 150_000;

/**
 * Yields the events of one HTTP stream of a watch until the server ends it. Logs and skips a line that is not a watch event.
 * @throws what {@link ApiClient} throws, and ConnectionError if the stream is silent for too long.
 */
export async function* watchStream<T extends KubeObject>(
  client: ApiClient,
  request: ApiRequest,
  { clock, log, what, heard, digestsOf }: Pick<WatchContext, "clock" | "log" | "what" | "heard" | "digestsOf">,
): AsyncGenerator<WatchEvent<T>> {
  const silent = new AbortController();
  const signal = request.signal ? AbortSignal.any([request.signal, silent.signal]) : silent.signal;
  await using stream: ByteStream = await client.stream({ ...request, signal });
  heard?.();
  const chunks = withIdleTimeout(stream, { clock, limitMs: silenceLimitMs, silent, what: `watch ${what}`, heard });
  for await (const line of lines(chunks)) {
    const event = parseEvent<T>(line, digestsOf);
    if (event !== undefined) yield event;
    else log.warn(logMessages.watchLineSkipped, { watch: what, bytes: line.length, ...nameIn(line) });
  }
}

function parseEvent<T extends KubeObject>(
  line: Buffer,
  digestsOf: DigestedKind | undefined,
): WatchEvent<T> | undefined {
  const event: WatchEvent<T> | null | undefined = parseJson(line, digestsOf);
  if (event === undefined || event === null || !isMapping(event.object)) return undefined;
  return event.type === "ERROR" || isMapping(event.object.metadata) ? event : undefined;
}

function isMapping(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/**
 * Returns the name of the object in a broken line, if any. The API server writes the name first in the metadata, and quotation
 * marks in a value would be escaped: so the match is a name, never a value.
 */
function nameIn(line: Buffer): { readonly namespace?: string; readonly name?: string } {
  const found = /"metadata":\{"name":"([a-z0-9.-]{1,253})"(?:,"namespace":"([a-z0-9-]{1,63})")?/.exec(
    line.toString("utf8", 0, 1024),
  );
  const [, name, namespace] = found ?? [];
  return { ...(namespace !== undefined && { namespace }), ...(name !== undefined && { name }) };
}

const newline = 10;

/**
 * Splits a stream of bytes into lines without line ends. Chunks may end anywhere, also in the middle of a character. A line
 * is valid until the next one is requested: all lines share the same memory, which is overwritten. Drops an incomplete last line.
 * @throws RangeError if a line exceeds {@link maxObjectBytes}.
 */
export async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  using begun = new ChunkBuffer();
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      yield begun.take(chunk.subarray(start, end));
      begun.clear();
      start = end + 1;
    }
    if (start < chunk.length) begun.append(chunk.subarray(start));
  }
}
