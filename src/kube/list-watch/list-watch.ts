// Lists and watches of one resource, with their restarts. Knows no cache.
import { sleep } from "../../lib/clock.ts";
import { backoffMs } from "../../runtime/timers.ts";
import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import { ApiError, apiFailureOf, isExpired, isForbidden, isNotFound, retryAfterMs } from "../api/api-failure.ts";
import { type KubeObject, metadataOnlyList, resourcePath } from "../api/resources.ts";
import {
  type ListWatchOptions,
  type PagedListContext,
  pagedList,
  type ReflectorEvent,
  type WatchContext,
} from "./paged-list.ts";
import { createWatchReport, grantToWatch, listFailureText, nameIn } from "./watch-report.ts";
import { watchFrom } from "./watch-stream.ts";

/**
 * State of a list-watch: at the start, or synced up to a resourceVersion. A stream that ends or breaks is resumed from that
 * version. If the server no longer has the version (410), everything is listed again. If list and watch of one named object are
 * forbidden, the object is read on an interval: a Role can allow to get the Namespace in which it is, but not to list or watch it.
 */
type State =
  | { readonly at: "start" }
  | { readonly at: "watching"; readonly resourceVersion: string }
  | { readonly at: "polling"; readonly name: string };

const backoff = { baseMs: 800, maxMs: 30_000 };

/**
 * Minimum life of a stream that is resumed immediately. A stream that ends earlier is resumed after a delay, because it might
 * end again and again. Whether a stream had events does not matter: most watches are quiet.
 */
const minStreamMs = 1_000;

/** Interval of checks for a resource that the API server does not serve. */
const absentMs = 30_000;

/** Interval of reads of a named object that may not be watched. Each read is preceded by a try to watch. */
const pollMs = 10_000;

/**
 * Yields all objects of a resource and every change of them until `signal` is aborted, then returns. Logs failures and
 * retries after a growing, jittered delay, or after the time that the server requests.
 */
export async function* listWatch<T extends KubeObject>(options: ListWatchOptions): AsyncGenerator<ReflectorEvent<T>> {
  const { clock, log, signal, resource } = options;
  /** Time of the first data of the current watch. */
  let openedAt: number | undefined;
  const context = contextOf({
    ...options,
    heard: () => {
      openedAt ??= clock.monotonic();
      options.heard?.();
      if (state.at === "watching") options.resumed?.();
    },
  });
  const restarts = context.metrics.counter(clusterMetrics.restarts, { resource: [resource.plural] });
  const report = createWatchReport(context);
  let state: State = { at: "start" };
  let initial: "stream" | "pages" = "stream";
  let failures = 0;
  let hasPolled = false;
  /** A list that breaks is repeated from the beginning, whatever its duration: that must not be a tight loop. */
  const livedLong = () =>
    state.at === "watching" && openedAt !== undefined && clock.monotonic() - openedAt >= minStreamMs;
  /** Reports whether an empty list was yielded because the API server does not serve the resource. */
  let absent = false;
  /** Number of lists in a row without data from a watch in between. */
  let relists = 0;
  /** Waits until the time is over or the signal is aborted. Never rejects: the loop checks the signal itself. */
  const wait = (ms: number) => sleep(clock, ms, signal).catch(() => {});
  const pause = (error: unknown, attempt: number) =>
    wait(Math.max(retryAfterMs(error), backoffMs(attempt - 1, { ...backoff, random: context.random })));

  while (!signal.aborted) {
    openedAt = undefined;
    try {
      if (state.at === "polling") {
        yield* getAsList<T>(context, state.name);
        state = { at: "start" };
        failures = 0;
        options.heard?.();
        options.resumed?.();
        report.well();
        if (!hasPolled)
          log.info("no permission to watch an object, reading it every 10 s", {
            watch: context.what,
            next: grantToWatch(context),
          });
        hasPolled = true;
        await wait(pollMs);
        continue;
      }
      if (state.at === "start" && initial === "pages") {
        state = { at: "watching", resourceVersion: yield* pagedList<T>(pagesOf(context)) };
      }
      for await (const step of watchFrom<T>(context, state.at === "watching" ? state.resourceVersion : undefined)) {
        if (step.event !== undefined) yield step.event;
        if (step.resourceVersion === undefined) continue;
        if (state.at === "watching") relists = 0;
        // The first one is the end of the list.
        if (state.at !== "watching") options.resumed?.();
        state = { at: "watching", resourceVersion: step.resourceVersion };
        failures = 0;
        absent = false;
        report.well();
      }
      options.lost?.();
      restarts.inc({ resource: resource.plural, reason: "ended" });
      if (livedLong()) failures = 0;
      else await pause(undefined, ++failures);
      if (options.shouldRelist?.()) state = { at: "start" };
    } catch (error) {
      if (signal.aborted) return;
      options.lost?.();
      if (state.at === "start" && initial === "stream" && offersNoStreams(error)) {
        initial = "pages";
        continue;
      }
      const name = nameIn(options);
      if (name !== undefined && state.at !== "polling" && isForbidden(error)) {
        state = { at: "polling", name };
        continue;
      }
      if (options.mayBeAbsent && isNotFound(error)) {
        options.heard?.();
        options.resumed?.();
        if (!absent) {
          log.info("the API server does not serve a resource, checking again every 30 s", {
            resource: resource.plural,
          });
          yield { type: "init" };
          yield { type: "initDone" };
        }
        absent = true;
        state = { at: "start" };
        await wait(absentMs);
      } else if (isExpired(error)) {
        log.debug("the API server no longer has the position of a watch, listing again", { watch: context.what });
        restarts.inc({ resource: resource.plural, reason: "gone" });
        state = { at: "start" };
        // A server that immediately forgets what it has listed must not be requested in a tight loop.
        if (relists > 0) await pause(error, relists);
        relists++;
      } else {
        restarts.inc({ resource: resource.plural, reason: error instanceof ApiError ? "refused" : "connection" });
        if (state.at !== "watching") yield { type: "initFailed", reason: listFailureText(context, error) };
        if (state.at === "polling") state = { at: "start" };
        if (livedLong()) failures = 0;
        report.failed(error, failures++);
        if (!livedLong() || retryAfterMs(error) > 0) await pause(error, failures);
      }
    }
  }
}

/** Yields one object, if it exists, as a list. @throws what the request throws, except 404. */
async function* getAsList<T extends KubeObject>(
  { client, resource, namespace, signal }: WatchContext,
  name: string,
): AsyncGenerator<ReflectorEvent<T>> {
  const path = resourcePath(resource, { namespace, name });
  const object = await client.request<T>({ method: "GET", path, signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  yield { type: "init" };
  if (object !== undefined) yield { type: "initApply", object };
  yield { type: "initDone" };
}

/** Yields all objects of a resource at one moment, between `init` and `initDone`. @throws what the request throws. */
export async function* listOnce<T extends KubeObject>(options: ListWatchOptions): AsyncGenerator<ReflectorEvent<T>> {
  yield* pagedList<T>(pagesOf(contextOf(options)));
}

function pagesOf(context: WatchContext): PagedListContext {
  return { ...context, accept: context.metadataOnly ? metadataOnlyList : undefined };
}

function contextOf(options: ListWatchOptions): WatchContext {
  const { resource, namespace } = options;
  return {
    random: Math.random,
    ...options,
    what: namespace === undefined ? resource.plural : `${resource.plural} in ${namespace}`,
    path: resourcePath(resource, { namespace }),
  };
}

/** Servers before 1.27, or with WatchList off, reject `sendInitialEvents` as invalid. */
function offersNoStreams(error: unknown): boolean {
  const type = apiFailureOf(error)?.type;
  return type === "badRequest" || type === "invalid";
}
