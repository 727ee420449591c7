import { logMessages } from "../../telemetry/logging/log-messages.ts";
import { ApiError, foreignResponseText, isExpired } from "../api/api-failure.ts";
import type { KubeList, KubeObject } from "../api/api-types.ts";
import { listItems } from "../http/json-bytes.ts";
import { isList, notList } from "../http/response-body.ts";
import { parseJson } from "../http/value-digests.ts";
import { type ReflectorEvent, type WatchContext, withIdleTimeout } from "./watch-context.ts";

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

/** The metadata and the size of a page. */
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
