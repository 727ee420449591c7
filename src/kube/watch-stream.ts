import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../telemetry/log.ts";
import type { KubeObject, WatchEvent } from "./api-types.ts";
import type { ApiClient, ApiRequest, ByteStream } from "./client.ts";
import { ConnectionError } from "./errors.ts";
import { lines } from "./lines.ts";

/**
 * How long a watch may be silent. Bookmarks come about every minute, so a longer silence means that nobody is there.
 * On HTTP/2 pings tell much sooner; this is for HTTP/1.1 and for servers that lost track of a watch.
 */
const silenceLimitMs = 150_000;

/**
 * One HTTP stream of a watch as its events. Ends when the server ends it; a line that is no watch event is logged and
 * skipped. @throws what {@link ApiClient} throws, and ConnectionError where it is silent for too long.
 */
export async function* watchStream<T extends KubeObject>(
  client: ApiClient,
  request: ApiRequest,
  { clock, log, what }: { readonly clock: Clock; readonly log: Logger; readonly what: string },
): AsyncGenerator<WatchEvent<T>> {
  const silent = new AbortController();
  const signal = request.signal ? AbortSignal.any([request.signal, silent.signal]) : silent.signal;
  await using stream: ByteStream = await client.stream({ ...request, signal });
  for await (const line of lines(heard(stream, clock, silent, what))) {
    const event = parseEvent<T>(line);
    if (event === undefined)
      log.warn(`a line of the watch of ${what} is not a watch event and is skipped`, { bytes: line.length });
    else yield event;
  }
}

/** Passes chunks on and aborts `silent` when none comes for too long. One timer for the whole stream. */
async function* heard(stream: ByteStream, clock: Clock, silent: AbortController, what: string): AsyncGenerator<Buffer> {
  let lastHeard = clock.monotonic();
  let cancel = () => {};
  const wait = (ms: number) => {
    cancel = clock.timer(ms, () => {
      const left = lastHeard + silenceLimitMs - clock.monotonic();
      if (left > 0) wait(left);
      else silent.abort(new ConnectionError(`watch ${what}: nothing was heard for ${silenceLimitMs / 1000} s`));
    });
  };
  wait(silenceLimitMs);
  try {
    for await (const chunk of stream) {
      lastHeard = clock.monotonic();
      yield chunk;
    }
  } finally {
    cancel();
  }
}

function parseEvent<T extends KubeObject>(line: Buffer): WatchEvent<T> | undefined {
  try {
    const event: WatchEvent<T> | null = JSON.parse(line.toString());
    return typeof event?.type === "string" && typeof event.object === "object" ? event : undefined;
  } catch {
    return undefined; // the parser's message would quote what it read
  }
}
