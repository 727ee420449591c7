import { workloadMetrics } from "../../telemetry/catalogue/workloads.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { ApiError, isAlreadyExists, isNotFound } from "../api/errors.ts";
import { resourcePath, resources } from "../api/resources.ts";
import type { ApiClient } from "../http/client.ts";
import { type EventSource, eventName, type ObjectEvent, timestamp, toEventBody } from "./event-object.ts";

/** What became of an Event: it was the first that says so, was counted on one that is there, or could not be written. */
export type EventResult = "first" | "again" | "failed";

/** Writes core/v1 Events. */
export interface EventRecorder {
  /**
   * Tells of what happened `times` times, by default once. Resolves when it is written or has failed, which is logged
   * and counted: never rejects. A repeat raises the count of the Event that is there, whoever wrote that. The same Event
   * must not be recorded twice at once.
   */
  record(event: ObjectEvent, times?: number): Promise<void>;
}

/** What a recorder works with. */
export interface EventRecorderOptions extends EventSource {
  readonly client: Pick<ApiClient, "request">;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Told of each Event when it is written or has failed. */
  readonly onRecorded?: ((event: ObjectEvent, recorded: EventResult) => void) | undefined;
}

/** How many counts are remembered, those of the most recent Events: so a repeat costs one request instead of three. */
const remembered = 2_000;

/** A namespace that takes no Events, because it ends or its quota is full, is not asked for this long. */
const refusedForMs = 5_000;
const mostRefusing = 1_000;

/** Failures are logged once in this time, with how many others there were: tenants can make them. */
const logEveryMs = 60_000;

/** An Event is not worth waiting longer. */
const timeoutMs = 10_000;

/**
 * A recorder of Events as `kubectl describe` shows them. The name of an Event follows from what it says, so that a
 * repeat finds the one that is there, also after a restart or from another replica.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, clock, log } = options;
  const counts = new Map<string, number>();
  const refusing = new Map<string, number>();
  let loggedAt = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  const failures = options.metrics.counter(workloadMetrics.failedEvents);

  const create = async (path: string, event: ObjectEvent, times: number): Promise<Counted> => {
    try {
      await client.request({ method: "POST", path, body: toEventBody(event, times, options), timeoutMs });
      return { count: times, recorded: "first" };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const body = { lastTimestamp: timestamp(clock) };
      const there = await client.request<{ count?: number }>({
        method: "PATCH",
        path: `${path}/${eventName(event)}`,
        body,
        timeoutMs,
      });
      return raise(path, event, (there.count ?? 1) + times);
    }
  };

  const raise = async (path: string, event: ObjectEvent, to: number): Promise<Counted> => {
    const count = Math.min(to, 2 ** 31 - 1);
    const body = { count, lastTimestamp: timestamp(clock) };
    await client.request({ method: "PATCH", path: `${path}/${eventName(event)}`, body, timeoutMs });
    return { count, recorded: "again" };
  };

  const write = async (path: string, event: ObjectEvent, times: number): Promise<EventResult> => {
    const key = `${path}/${eventName(event)}`;
    const before = counts.get(key);
    counts.delete(key);
    const { count, recorded } =
      before === undefined ? await create(path, event, times) : await raiseOrCreate(path, event, before, times);
    counts.set(key, count);
    const oldest = counts.size > remembered ? counts.keys().next().value : undefined;
    if (oldest !== undefined) counts.delete(oldest);
    return recorded;
  };

  const raiseOrCreate = async (path: string, event: ObjectEvent, before: number, times: number): Promise<Counted> => {
    try {
      return await raise(path, event, before + times);
    } catch (error) {
      if (isNotFound(error)) return create(path, event, times); // Events live for an hour by default
      throw error;
    }
  };

  const refuses = (namespace: string): boolean => {
    const until = refusing.get(namespace);
    if (until === undefined || clock.monotonic() < until) return until !== undefined;
    refusing.delete(namespace);
    return false;
  };

  const failed = (namespace: string, event: ObjectEvent, error: unknown): void => {
    failures.inc();
    if (refusesAll(error)) refusing.set(namespace, clock.monotonic() + refusedForMs);
    const oldest = refusing.size > mostRefusing ? refusing.keys().next().value : undefined;
    if (oldest !== undefined) refusing.delete(oldest);
    if (clock.monotonic() < loggedAt + logEveryMs) {
      unlogged++;
      return;
    }
    const { kind, namespace: where, name } = event.regarding;
    const about = { reason: event.reason, kind, namespace: where, name };
    const others = unlogged > 0 ? { others: unlogged } : {};
    log.warn("an Event could not be written", { ...about, ...others, error: errorText(error) });
    loggedAt = clock.monotonic();
    unlogged = 0;
  };

  const recordedAs = async (event: ObjectEvent, times: number): Promise<EventResult> => {
    const namespace = event.regarding.namespace || "default";
    if (refuses(namespace)) {
      failures.inc();
      return "failed";
    }
    try {
      return await write(resourcePath(resources.events, { namespace }), event, times);
    } catch (error) {
      failed(namespace, event, error);
      return "failed";
    }
  };

  return {
    record: async (event, times = 1) => {
      const recorded = await recordedAs(event, times);
      options.onRecorded?.(event, recorded);
    },
  };
}

/** How often an Event tells that it happened, after it was written. */
interface Counted {
  readonly count: number;
  readonly recorded: Exclude<EventResult, "failed">;
}

/**
 * Whether a failure says that the namespace takes no Event now, whatever its text: one that ends or whose quota is full
 * answers 403, one that is gone 404.
 */
function refusesAll(error: unknown): boolean {
  return error instanceof ApiError && [403, 404].includes(error.status);
}
