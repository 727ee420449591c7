import type { KubeObject, Status, WatchEvent } from "../api/api-types.ts";
import { ApiError, isGone } from "../api/errors.ts";
import type { ReflectorEvent, WatchContext } from "./watch-context.ts";
import { watchStream } from "./watch-stream.ts";

/** Something that a watch told: an event, or (a bookmark) only how far it has come. */
export interface WatchStep<T extends KubeObject> {
  /** Everything up to here is known once `event` is passed on. Undefined while the initial objects are being told. */
  readonly resourceVersion: string | undefined;
  readonly event: ReflectorEvent<T> | undefined;
}

/** Watches end after 5 to 10 minutes, so that many of them do not come back at one moment (as client-go does). */
function timeoutSeconds(random: () => number): number {
  return Math.round(300 * (1 + random()));
}

/**
 * All objects first, as the beginning of the watch: no list is ever whole in the memory of server or client
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists).
 */
const fromTheBeginning = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };

/**
 * One HTTP stream: the changes after `resourceVersion`, or where that is undefined all objects that exist, between `init`
 * and `initDone`, and then the changes. @throws ApiError for an ERROR event, 410 where the resourceVersion is too old.
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
  let listing = resourceVersion === undefined;
  if (listing) yield { resourceVersion: undefined, event: { type: "init" } };
  for await (const event of watchStream<T>(client, { method: "GET", path, query, signal }, context)) {
    if (event.type === "ERROR") throw errorOf(what, event.object);
    // Missing in a malformed object, which is the reflector's to name.
    const reached: string | undefined = event.object.metadata.resourceVersion;
    const done = listing && event.type === "BOOKMARK" && isEndOfInitialEvents(event.object);
    if (done) listing = false;
    yield { resourceVersion: listing ? undefined : reached, event: done ? { type: "initDone" } : told(event, listing) };
  }
  if (listing) throw new Error(`the list of ${what} ended before it was complete`);
}

function told<T extends KubeObject>(
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

/** The failure that an ERROR event tells of, in the middle of a stream that began with 200. */
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

/** Whether the server has forgotten the resourceVersion: 410 as a status or in the stream, also named "Expired". */
export function isExpired(error: unknown): boolean {
  return isGone(error) || (error instanceof ApiError && error.reason === "Expired");
}
