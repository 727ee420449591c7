import { logMessages } from "../../telemetry/logging/log-messages.ts";
import { statusError } from "../api/api-failure.ts";
import { type KubeObject, metadataOnly, type WatchEvent } from "../api/resources.ts";
import type { ApiRequest } from "../http/api-request.ts";
import { ChunkBuffer } from "../http/json-bytes.ts";
import { isMapping } from "../http/response-body.ts";
import { type DigestedKind, parseJson } from "../http/value-digests.ts";
import { type ReflectorEvent, type WatchContext, withIdleTimeout } from "./paged-list.ts";

/** One step of a watch: an event, or only a position (a bookmark). */
interface WatchStep<T extends KubeObject> {
  /** The position after `event`. Undefined while the initial objects arrive. */
  readonly resourceVersion: string | undefined;
  readonly event: ReflectorEvent<T> | undefined;
}

/**
 * Query for all objects at the start of the watch: no list is complete in the memory of server or client
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists).
 */
const fromTheBeginning = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };

/**
 * Watches over one HTTP stream. Yields the changes after `resourceVersion`. If that is undefined, yields first all objects that
 * exist, between `init` and `initDone`. @throws ApiError for an ERROR event, with 410 if the resourceVersion is too old.
 */
export async function* watchFrom<T extends KubeObject>(
  context: WatchContext,
  resourceVersion: string | undefined,
): AsyncGenerator<WatchStep<T>> {
  const { fieldSelector, random, what } = context;
  const query = {
    watch: true,
    allowWatchBookmarks: true,
    ...(resourceVersion === undefined ? fromTheBeginning : { resourceVersion }),
    // 5 to 10 minutes, like client-go, so that many watches do not restart together.
    timeoutSeconds: Math.round(300 * (1 + random())),
    fieldSelector,
  };
  let listing = resourceVersion === undefined;
  if (listing) yield { resourceVersion: undefined, event: { type: "init" } };
  for await (const event of watchStream<T>(context, query)) {
    // The stream began with 200.
    if (event.type === "ERROR") throw statusError(`watch ${what}`, event.object.code ?? 500, event.object);
    // Undefined in a malformed object, which the reflector reports.
    const reached: string | undefined = event.object.metadata.resourceVersion;
    const { annotations } = event.object.metadata;
    const done = listing && event.type === "BOOKMARK" && annotations?.["k8s.io/initial-events-end"] === "true";
    if (done) listing = false;
    yield {
      resourceVersion: listing ? undefined : reached,
      event: done ? { type: "initDone" } : toReflectorEvent(event, listing),
    };
  }
  if (listing) throw new Error(`the list of ${what} ended before it was complete`);
}

function toReflectorEvent<T extends KubeObject>(
  event: Exclude<WatchEvent<T>, { type: "ERROR" }>,
  listing: boolean,
): ReflectorEvent<T> | undefined {
  switch (event.type) {
    case "ADDED":
    case "MODIFIED":
      return { type: listing ? "initApply" : "apply", object: event.object };
    case "DELETED":
      return { type: "delete", object: event.object };
    case "BOOKMARK":
      return undefined;
  }
}

/** Maximum time without data. Bookmarks arrive about every minute, so a longer silence means that the peer is lost. */
const silenceLimitMs = 150_000;

/**
 * Yields the events of one HTTP stream of a watch until the server ends it. Logs and skips a line that is not a watch event.
 * @throws what `ApiClient.stream` throws, and ConnectionError if the stream is silent for too long.
 */
async function* watchStream<T extends KubeObject>(
  context: WatchContext,
  query: NonNullable<ApiRequest["query"]>,
): AsyncGenerator<WatchEvent<T>> {
  const { client, path, clock, log, what, heard, digestsOf } = context;
  const silent = new AbortController();
  const signal = AbortSignal.any([context.signal, silent.signal]);
  const accept = context.metadataOnly && { accept: metadataOnly };
  await using stream = await client.stream({ method: "GET", path, query, signal, ...accept });
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
