import { type KubeObject, metadataOnly, type Status, type WatchEvent } from "../api/api-types.ts";
import { ApiError } from "../api/errors.ts";
import type { ReflectorEvent, WatchContext } from "./watch-context.ts";
import { watchStream } from "./watch-stream.ts";

/** One step of a watch: an event, or only a position (a bookmark). */
interface WatchStep<T extends KubeObject> {
  /** The position after `event`. Undefined while the initial objects arrive. */
  readonly resourceVersion: string | undefined;
  readonly event: ReflectorEvent<T> | undefined;
}

/** Returns a random watch duration of 5 to 10 minutes, like client-go, so that many watches do not restart together. */
function timeoutSeconds(random: () => number): number {
  return Math.round(300 * (1 + random()));
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
  const { client, path, fieldSelector, random, signal, what } = context;
  const query = {
    watch: true,
    allowWatchBookmarks: true,
    ...(resourceVersion === undefined ? fromTheBeginning : { resourceVersion }),
    timeoutSeconds: timeoutSeconds(random),
    fieldSelector,
  };
  const request = {
    method: "GET",
    path,
    query,
    signal,
    ...(context.metadataOnly && { accept: metadataOnly }),
  } as const;
  let listing = resourceVersion === undefined;
  if (listing) yield { resourceVersion: undefined, event: { type: "init" } };
  for await (const event of watchStream<T>(client, request, context)) {
    if (event.type === "ERROR") throw errorOf(what, event.object);
    // Undefined in a malformed object, which the reflector reports.
    const reached: string | undefined = event.object.metadata.resourceVersion;
    const done = listing && event.type === "BOOKMARK" && isEndOfInitialEvents(event.object);
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

function isEndOfInitialEvents({ metadata }: KubeObject): boolean {
  return metadata.annotations?.["k8s.io/initial-events-end"] === "true";
}

/** Returns the error of an ERROR event, which occurs in a stream that began with 200. */
function errorOf(what: string, status: Status): ApiError {
  const seconds = status.details?.retryAfterSeconds;
  return new ApiError({
    request: `watch ${what}`,
    status: status.code ?? 500,
    reason: status.reason ?? "",
    serverMessage: status.message ?? "",
    retryAfterMs: seconds ? seconds * 1000 : undefined,
    details: status.details,
  });
}
