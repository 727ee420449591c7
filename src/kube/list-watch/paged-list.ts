import type { Clock } from "../../lib/clock.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import { ApiError, ConnectionError, foreignResponseText, isExpired } from "../api/api-failure.ts";
import type { KubeList, KubeObject, Resource } from "../api/resources.ts";
import type { ApiClient } from "../http/client.ts";
import { listItems } from "../http/json-bytes.ts";
import { isList, notList } from "../http/response-body.ts";
import { type DigestedKind, parseJson } from "../http/value-digests.ts";

/** Target size of a page: the API server and etcd keep the whole page in memory. */
const pageBytes = 2 * 1024 * 1024;
/** Objects per page. The first page is small, because the size of the objects is unknown. The maximum is that of client-go. */
const limits = { first: 20, least: 5, most: 500 };
const silenceLimitMs = 30_000;

/** Options of {@link pagedList}. */
export interface PagedListContext
  extends Pick<
    WatchContext,
    "client" | "path" | "what" | "fieldSelector" | "digestsOf" | "clock" | "log" | "heard" | "signal"
  > {
  readonly labelSelector?: string | undefined;
  /** Receives the time of each answer by the clock of the API server. See {@link ByteStream.answeredAt}. */
  readonly answered?: (at: number | undefined) => void;
  /** Media type of the list, such as `metadataOnlyList`. */
  readonly accept?: string | undefined;
}

/**
 * Yields all objects that exist at one moment, in pages, for servers that cannot send them at the start of a watch. Keeps only
 * one object of a page in memory. Starts again once if the server no longer has that moment (410). Returns the
 * resourceVersion to watch from.
 */
export async function* pagedList<T extends KubeObject>(
  context: PagedListContext,
): AsyncGenerator<ReflectorEvent<T>, string> {
  yield { type: "init" };
  let next: string | undefined;
  let limit = limits.first;
  let restarted = false;
  for (;;) {
    try {
      const { metadata, bytes } = yield* onePage<T>(context, limit, next);
      next = metadata.continue;
      if (!next) {
        yield { type: "initDone" };
        return metadata.resourceVersion;
      }
      limit = Math.round(Math.min(limits.most, Math.max(limits.least, (limit * pageBytes) / bytes)));
    } catch (error) {
      if (next === undefined || restarted || !isExpired(error)) throw error;
      restarted = true;
      next = undefined;
      yield { type: "init" };
    }
  }
}

interface PageEnd {
  readonly metadata: KubeList<never>["metadata"];
  readonly bytes: number;
}

async function* onePage<T extends KubeObject>(
  {
    client,
    path,
    fieldSelector,
    labelSelector,
    accept,
    digestsOf,
    signal,
    log,
    what,
    clock,
    heard,
    answered,
  }: PagedListContext,
  limit: number,
  next: string | undefined,
): AsyncGenerator<ReflectorEvent<T>, PageEnd> {
  const silent = new AbortController();
  const query = { limit, continue: next, fieldSelector, labelSelector };
  const either = AbortSignal.any([signal, silent.signal]);
  await using stream = await client.stream({ method: "GET", path, query, signal: either, ...(accept && { accept }) });
  answered?.(stream.answeredAt);
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    heard?.();
  };
  const items = listItems(
    withIdleTimeout(stream, { clock, limitMs: silenceLimitMs, silent, what: `list ${what}`, heard: count }),
  );
  for (;;) {
    const { done, value } = await items.next();
    if (done) return { metadata: parseEnd(value, what).metadata, bytes };
    const object: T | null | undefined = parseJson(value, digestsOf);
    if (object?.metadata) yield { type: "initApply", object };
    else log.warn(logMessages.listItemSkipped, { list: what });
  }
}

/** Returns the rest of a list, after its items. Throws for a body that is no list. */
function parseEnd(rest: Buffer, what: string): KubeList<never> {
  const parsed = parseJson(rest, undefined);
  if (isList(parsed)) return parsed;
  const serverMessage = foreignResponseText("application/json", notList);
  throw new ApiError({ request: `list ${what}`, status: 200, reason: "", serverMessage });
}

/**
 * An event of a list-watch. Between `init` and `initDone` there is one `initApply` for each object that exists: all other known
 * objects are gone. `init` may occur again before `initDone`: then discard the events since the previous `init`.
 */
export type ReflectorEvent<T extends KubeObject> =
  | { readonly type: "init" }
  /** The list failed before anything is known. `reason` is one line for a person. The list is retried. */
  | { readonly type: "initFailed"; readonly reason: string }
  | { readonly type: "initApply"; readonly object: T }
  | { readonly type: "initDone" }
  | { readonly type: "apply"; readonly object: T }
  | { readonly type: "delete"; readonly object: T };

/** Options of {@link listWatch}. */
export interface ListWatchOptions extends Pick<ProcessContext, "clock" | "log" | "metrics"> {
  readonly client: ApiClient;
  readonly resource: Resource;
  /** Undefined: all namespaces. */
  readonly namespace?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** See {@link ApiRequest.digestsOf}. */
  readonly digestsOf?: DigestedKind | undefined;
  /** Whether the API server sends only the metadata of objects. Default: whole objects. */
  readonly metadataOnly?: boolean | undefined;
  readonly random?: () => number;
  /** Called for all data from the server, including bookmarks. */
  readonly heard?: (() => void) | undefined;
  /** Called when the watch may miss changes from now on, and when it has all of them again. */
  readonly lost?: (() => void) | undefined;
  readonly resumed?: (() => void) | undefined;
  /** Called when the server ends a watch, after minutes. If true, everything is listed again. Default: false. */
  readonly shouldRelist?: (() => boolean) | undefined;
  /**
   * Reports whether the API may lack the resource, because it is not installed. There are no objects then, and the resource is
   * checked for every 30 s. Default: false, the resource is required.
   */
  readonly mayBeAbsent?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** Context that the parts of one list-watch share. */
export interface WatchContext extends ListWatchOptions {
  readonly random: () => number;
  /** For messages: "secrets", or "secrets in default". */
  readonly what: string;
  readonly path: string;
}

/**
 * Yields the chunks of a stream and aborts `silent` if no chunk arrives for `limitMs`. Uses one timer for the whole stream. On
 * HTTP/2 pings detect a lost peer much earlier. This timeout is for HTTP/1.1 and for servers that lost a request.
 */
export async function* withIdleTimeout(
  stream: AsyncIterable<Buffer>,
  options: {
    readonly clock: Clock;
    readonly limitMs: number;
    readonly silent: AbortController;
    /** Request for the error, such as "watch secrets". */
    readonly what: string;
    readonly heard?: ((chunk: Buffer) => void) | undefined;
  },
): AsyncGenerator<Buffer> {
  const { clock, limitMs, silent, what, heard } = options;
  let lastHeard = clock.monotonic();
  let cancel = () => {};
  const wait = (ms: number) => {
    cancel = clock.timer(ms, () => {
      const left = lastHeard + limitMs - clock.monotonic();
      if (left > 0) wait(left);
      else silent.abort(new ConnectionError(`${what}: no data for ${limitMs / 1000} s`));
    });
  };
  wait(limitMs);
  try {
    for await (const chunk of stream) {
      lastHeard = clock.monotonic();
      heard?.(chunk);
      yield chunk;
    }
  } finally {
    cancel();
  }
}
