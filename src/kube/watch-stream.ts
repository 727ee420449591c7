import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../telemetry/log.ts";
import type { ApiRequest } from "./api-request.ts";
import type { KubeObject, WatchEvent } from "./api-types.ts";
import type { ApiClient, ByteStream } from "./client.ts";
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
    if (event !== undefined) yield event;
    else log.warn(`a line of the watch of ${what} is no event and is skipped`, { bytes: line.length, ...nameIn(line) });
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
    if (event === null || !isMapping(event.object)) return undefined;
    return event.type === "ERROR" || isMapping(event.object.metadata) ? event : undefined;
  } catch {
    return undefined; // the parser's message would quote what it read
  }
}

function isMapping(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/**
 * Which object a broken line may be about. The API server writes an object's name first in its metadata, and inside of a
 * value the quotation marks would be escaped: what is found is a name, never a value.
 */
function nameIn(line: Buffer): { readonly namespace?: string; readonly name?: string } {
  const found = /"metadata":\{"name":"([a-z0-9.-]{1,253})"(?:,"namespace":"([a-z0-9-]{1,63})")?/.exec(
    line.toString("utf8", 0, 1024),
  );
  const [, name, namespace] = found ?? [];
  return { ...(namespace !== undefined && { namespace }), ...(name !== undefined && { name }) };
}
