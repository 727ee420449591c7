import type { KubeList, KubeObject } from "../api/api-types.ts";
import { withoutBulkyFields } from "../http/large-json.ts";
import { listItems } from "../http/list-items.ts";
import { withIdleTimeout } from "./idle-timeout.ts";
import type { ReflectorEvent, WatchContext } from "./watch-context.ts";
import { isExpired } from "./watch-from.ts";

/** A page is asked for so that it has about so many bytes: the API server has all of it in memory, and its etcd, too. */
const pageBytes = 2 * 1024 * 1024;
/** The first page is small, because nobody knows yet how large the objects are; the last number is client-go's own. */
const limits = { first: 20, least: 5, most: 500 };
const silenceLimitMs = 30_000;

/** A list of objects with their metadata alone: https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches. */
export const metadataOnlyList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/** What to list in pages, and with what. */
export interface PagedListContext
  extends Pick<WatchContext, "client" | "path" | "what" | "fieldSelector" | "clock" | "log" | "heard" | "signal"> {
  readonly labelSelector?: string | undefined;
  /** In which form the list is wanted, such as {@link metadataOnlyList}. */
  readonly accept?: string | undefined;
}

/**
 * All objects that exist now, in pages of one moment, for servers that do not send them as the beginning of a watch. No
 * more than one object of a page is in memory. Begins again, once, where the server gives up the moment in between (410).
 * Returns the resourceVersion to watch from.
 */
export async function* pagedList<T extends KubeObject>(
  context: PagedListContext,
): AsyncGenerator<ReflectorEvent<T>, string> {
  yield { type: "init" };
  let next: string | undefined;
  let limit = limits.first;
  let begunAgain = false;
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
      if (next === undefined || begunAgain || !isExpired(error)) throw error;
      begunAgain = true;
      next = undefined;
      yield { type: "init" };
    }
  }
}

/** The metadata of a page, and how long it was. */
interface PageEnd {
  readonly metadata: KubeList<never>["metadata"];
  readonly bytes: number;
}

async function* onePage<T extends KubeObject>(
  { client, path, fieldSelector, labelSelector, accept, signal, log, what, clock, heard }: PagedListContext,
  limit: number,
  next: string | undefined,
): AsyncGenerator<ReflectorEvent<T>, PageEnd> {
  const silent = new AbortController();
  const query = { limit, continue: next, fieldSelector, labelSelector };
  const either = AbortSignal.any([signal, silent.signal]);
  await using stream = await client.stream({ method: "GET", path, query, signal: either, ...(accept && { accept }) });
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
    if (done) return { metadata: parse<KubeList<never>>(value, what).metadata, bytes };
    const object = parse<T | null>(withoutBulkyFields(value), what);
    if (object?.metadata) yield { type: "initApply", object };
    else log.warn(`an item in the list of ${what} is no object and is skipped`);
  }
}

function parse<T>(bytes: Buffer, what: string): T {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    // The parser's message would quote what it read, which may be a Secret.
    throw new Error(`the list of ${what} is not JSON`);
  }
}
