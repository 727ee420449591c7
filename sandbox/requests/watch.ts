import type { JsonObject } from "../objects/json.ts";
import type { ApiObject } from "../objects/object.ts";
import { apiVersionOf } from "../objects/resources.ts";
import { expired, invalidKind } from "../objects/status-error.ts";
import { type Storage, type StorageEvent, withResourceVersion } from "../registry/storage.ts";
import type { Clock } from "../time/clock.ts";
import { parseResourceVersion, type Scope, selectorOf } from "./list.ts";
import { isTrue } from "./request-info.ts";

/** One line of a watch. https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes */
export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: ApiObject }
  | { readonly type: "BOOKMARK"; readonly object: JsonObject }
  | { readonly type: "ERROR"; readonly object: JsonObject };

/** Where a watch's events go. */
export interface WatchSink {
  send(event: WatchEvent): void;
  /** The watch has run its time or failed: the stream ends. */
  end(): void;
}

/** How a watch keeps time. */
export interface WatchTiming {
  readonly clock: Clock;
  readonly random: () => number;
  /** A bookmark after so many milliseconds, where the client takes bookmarks. */
  readonly bookmarkMs: number;
}

/**
 * Starts a watch: what is there already where the client asks for it, what history holds after its resourceVersion, and
 * every change from now on, until the returned function is called or `timeoutSeconds` have passed.
 * A resourceVersion that history has lost is answered as the API server does: with an ERROR event of code 410.
 * Throws 400 and 422 on options that make no sense.
 */
export function startWatch(storage: Storage, scope: Scope, timing: WatchTiming, sink: WatchSink): () => void {
  const { resource, namespace, query } = scope;
  checkOptions(query);
  const selector = selectorOf(scope);
  const from = parseResourceVersion(query.get("resourceVersion"));
  const bookmarks = isTrue(query.get("allowWatchBookmarks"));
  const initial = isTrue(query.get("sendInitialEvents"));
  const deliver = (event: StorageEvent) => {
    if (event.resource !== resource || event.revision <= from) return;
    const object = event.after ?? event.before;
    if (namespace !== undefined && object?.metadata.namespace !== namespace) return;
    const seen = seenThrough(selector, event);
    if (seen !== undefined) sink.send(seen);
  };
  const bookmark = (annotations?: JsonObject) => {
    const metadata = { resourceVersion: String(storage.revision), annotations };
    sink.send({ type: "BOOKMARK", object: { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata } });
  };

  if (initial || from === 0) {
    // Without sendInitialEvents a watch from nowhere shows what is there as well, but says not when that ends.
    const silent = query.get("sendInitialEvents") === "false";
    if (!silent)
      for (const object of storage.list(resource, namespace))
        if (selector(object)) sink.send({ type: "ADDED", object });
    if (initial && bookmarks) bookmark({ "k8s.io/initial-events-end": "true" });
  } else if (from < storage.forgotten) {
    const status = expired(`too old resource version: ${from} (${storage.forgotten})`).body();
    sink.send({ type: "ERROR", object: status });
    sink.end();
    return () => {};
  } else {
    storage.since(from).forEach(deliver);
  }
  const unsubscribe = storage.subscribe(deliver);
  const cancelTimers = keepTime(timing, query, bookmarks ? bookmark : undefined, () => {
    unsubscribe();
    sink.end();
  });
  return () => {
    unsubscribe();
    cancelTimers();
  };
}

/** What a watcher with this selector sees of a write: an object that no longer matches is deleted to it. */
function seenThrough(selector: (object: ApiObject) => boolean, event: StorageEvent): WatchEvent | undefined {
  const { before, after, revision } = event;
  const matched = before !== undefined && selector(before);
  if (after !== undefined && selector(after)) return { type: matched ? "MODIFIED" : "ADDED", object: after };
  if (!matched) return undefined;
  return { type: "DELETED", object: withResourceVersion(before, revision) };
}

/** Sends bookmarks at intervals and just before the end, so that a client resumes from its real position. */
function keepTime(
  timing: WatchTiming,
  query: URLSearchParams,
  bookmark: (() => void) | undefined,
  end: () => void,
): () => void {
  const { clock, random, bookmarkMs } = timing;
  const asked = Number(query.get("timeoutSeconds") ?? 0);
  const timeoutMs = asked > 0 ? asked * 1000 : 1_800_000 * (1 + random());
  let cancelBookmark = () => {};
  const schedule = () => {
    cancelBookmark = clock.timer(bookmarkMs, () => {
      bookmark?.();
      schedule();
    });
  };
  if (bookmark !== undefined) schedule();
  const cancelEnd = clock.timer(timeoutMs, () => {
    cancelBookmark();
    bookmark?.();
    end();
  });
  return () => {
    cancelBookmark();
    cancelEnd();
  };
}

function checkOptions(query: URLSearchParams): void {
  if (!query.has("sendInitialEvents")) return;
  if (query.get("resourceVersionMatch") === "NotOlderThan") return;
  throw invalidKind("meta.k8s.io", "ListOptions", "", [
    {
      reason: "FieldValueForbidden",
      field: "resourceVersionMatch",
      message: "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
    },
  ]);
}
