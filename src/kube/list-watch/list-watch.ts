import { sleep } from "../../lib/clock.ts";
import { backoffMs } from "../../runtime/backoff.ts";
import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import type { LabelsOf } from "../../telemetry/metrics/metric-row.ts";
import type { Counter } from "../../telemetry/metrics/metrics.ts";
import type { KubeObject } from "../api/api-types.ts";
import { ApiError, isNotFound } from "../api/errors.ts";
import { type Resource, resourcePath } from "../api/resources.ts";
import { pagedList } from "./paged-list.ts";
import type { ListWatchOptions, ReflectorEvent, WatchContext } from "./watch-context.ts";
import { isExpired, watchFrom } from "./watch-from.ts";
import { createWatchReport, listFailureText } from "./watch-report.ts";

/**
 * Where a list-watch is: nothing is known, or everything up to a resourceVersion. A stream that ends or breaks is resumed
 * from there; when the server has forgotten it (410), everything is listed again.
 */
type State = { readonly at: "start" } | { readonly at: "watching"; readonly resourceVersion: string };

const backoff = { baseMs: 800, maxMs: 30_000 };

/** A server that asks to come back much later is asked again all the same. */
const longestAskedMs = 300_000;

/**
 * A stream that ends or breaks sooner than this is not begun again at once: it might end again, and so on. One that lived
 * longer is resumed at once, whatever it told: most watches are quiet.
 */
const shortestStreamMs = 1_000;

/** How long until a resource is looked for again that the API server does not know. */
const absentMs = 30_000;

/** A list without any. */
const noObjects = [{ type: "init" }, { type: "initDone" }] as const;

/**
 * All objects of a resource, and every change of them, for ever: only `signal` ends it, quietly. What fails is logged and
 * tried again after a growing, jittered delay, or after the time that the server asks for.
 */
export async function* listWatch<T extends KubeObject>(options: ListWatchOptions): AsyncGenerator<ReflectorEvent<T>> {
  const { clock, log, signal, resource } = options;
  /** When the server began to answer the watch that runs. */
  let openedAt: number | undefined;
  const context = contextOf({
    ...options,
    heard: () => {
      openedAt ??= clock.monotonic();
      options.heard?.();
    },
  });
  const restarts = context.metrics.counter(clusterMetrics.restarts, { resource: [resource.plural] });
  const report = createWatchReport(context);
  let state: State = { at: "start" };
  let initial: "stream" | "pages" = "stream";
  let failures = 0;
  /** A list that breaks is begun anew, however long it took, which is not to be done in a tight loop. */
  const livedLong = () =>
    state.at === "watching" && openedAt !== undefined && clock.monotonic() - openedAt >= shortestStreamMs;
  /** Whether it is told that there are no such objects, because nobody knows of such. */
  let absent = false;
  /** Lists after which no watch has told anything yet. */
  let relists = 0;

  while (!signal.aborted) {
    openedAt = undefined;
    try {
      if (state.at === "start" && initial === "pages") {
        state = { at: "watching", resourceVersion: yield* pagedList<T>(context) };
      }
      for await (const step of watchFrom<T>(context, state.at === "start" ? undefined : state.resourceVersion)) {
        if (step.event !== undefined) yield step.event;
        if (step.resourceVersion === undefined) continue;
        if (state.at === "watching") relists = 0;
        state = { at: "watching", resourceVersion: step.resourceVersion };
        failures = 0;
        absent = false;
        report.well();
      }
      count(restarts, resource, "ended");
      if (livedLong()) failures = 0;
      else await pause(context, undefined, ++failures);
      if (options.shouldRelist?.()) state = { at: "start" };
    } catch (error) {
      if (signal.aborted) return;
      if (state.at === "start" && initial === "stream" && offersNoStreams(error)) {
        initial = "pages";
        continue;
      }
      if (options.mayBeAbsent && isNotFound(error)) {
        options.heard?.();
        if (!absent) {
          log.info(`the API server has no ${resource.plural}; they are looked for every ${absentMs / 1000} s`);
          yield* noObjects;
        }
        absent = true;
        state = { at: "start" };
        await sleep(clock, absentMs, signal).catch(() => {});
      } else if (isExpired(error)) {
        log.debug(`the API server no longer knows where the watch of ${context.what} was; listing again`);
        count(restarts, resource, "gone");
        state = { at: "start" };
        // A server that forgets at once what it has just listed must not be asked in a tight loop.
        if (relists > 0) await pause(context, error, relists);
        relists++;
      } else {
        count(restarts, resource, error instanceof ApiError ? "refused" : "connection");
        if (state.at === "start") yield { type: "initFailed", reason: listFailureText(context, error) };
        if (livedLong()) failures = 0;
        report.failed(error, failures++);
        if (!livedLong() || askedMs(error) > 0) await pause(context, error, failures);
      }
    }
  }

  async function pause({ random }: WatchContext, error: unknown, attempt: number): Promise<void> {
    const ms = Math.max(askedMs(error), backoffMs(attempt - 1, { ...backoff, random }));
    // Rejects only when the signal is aborted, which the loop sees for itself.
    await sleep(clock, ms, signal).catch(() => {});
  }
}

/** All objects of a resource as they are at one moment, between `init` and `initDone`. @throws what the request throws. */
export async function* listOnce<T extends KubeObject>(options: ListWatchOptions): AsyncGenerator<ReflectorEvent<T>> {
  yield* pagedList<T>(contextOf(options));
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

type Restart = LabelsOf<typeof clusterMetrics.restarts>;

/** How long the server asks to wait. */
function askedMs(error: unknown): number {
  return error instanceof ApiError ? Math.min(error.retryAfterMs ?? 0, longestAskedMs) : 0;
}

/** Before 1.27, and where WatchList is switched off, `sendInitialEvents` is refused as invalid. */
function offersNoStreams(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 400 || error.status === 422);
}

function count(restarts: Counter<Restart>, resource: Resource, reason: Restart["reason"]): void {
  restarts.inc({ resource: resource.plural, reason });
}
