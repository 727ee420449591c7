// Writes of Events. Knows no reason or text of a particular Event.
import { setLatest } from "../../lib/latest-entries.ts";
import { workloadMetrics } from "../../telemetry/catalogue/workloads.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import { ApiError, isAlreadyExists, isNotFound } from "../api/api-failure.ts";
import { resourcePath, resources } from "../api/resources.ts";
import type { ApiClient } from "../http/client.ts";
import { type EventSource, eventName, type ObjectEvent, timestamp, toEventBody } from "./event-object.ts";

/** Result of recording an Event: first occurrence, count of an existing Event raised, or failed. */
export type EventResult = "first" | "again" | "failed";

/** Writes core/v1 Events. */
export interface EventRecorder {
  /**
   * Records an Event that happened `times` times, by default once. Resolves when it is written or has failed, which is logged
   * and counted. Never rejects. A repeat raises the count of the existing Event, also if another replica wrote that. Do not
   * record the same Event twice concurrently.
   */
  record(event: ObjectEvent, times?: number): Promise<void>;
}

/** Options of {@link createEventRecorder}. */
export interface EventRecorderOptions extends EventSource, Pick<ProcessContext, "log" | "metrics"> {
  readonly client: Pick<ApiClient, "request">;
  /** Receives each Event when it is written or has failed. */
  readonly onRecorded?: ((event: ObjectEvent, recorded: EventResult) => void) | undefined;
}

/** Number of remembered counts, for the most recent Events. With it a repeat needs one request instead of three. */
const maxRememberedCounts = 2_000;

/** Pause after a namespace rejected an Event, because it is being deleted or its quota is full. */
const rejectedPauseMs = 5_000;
const maxRejecting = 1_000;

/** Interval of log lines about failures, with the number of others: tenants can cause failures. */
const logEveryMs = 60_000;

/** Time limit of one request. */
const timeoutMs = 10_000;

/**
 * Creates a recorder of core/v1 Events, which `kubectl describe` shows. The name of an Event is derived from its content, so
 * that a repeat finds the existing Event, also after a restart or from another replica.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, clock, log } = options;
  const counts = new Map<string, number>();
  /** Until when no Event is sent to a namespace that rejected one, in monotonic milliseconds. */
  const rejecting = new Map<string, number>();
  let loggedAt = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  const failures = options.metrics.counter(workloadMetrics.failedEvents);

  const create = async ({ collection, name, path, event }: NamedEvent, times: number): Promise<Counted> => {
    try {
      const body = toEventBody(event, name, times, options);
      await client.request({ method: "POST", path: collection, body, timeoutMs });
      return { count: times, recorded: "first" };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // It happened once, whoever wrote the Event.
      if (event.id !== undefined && event.repeats === "perhaps") return { count: 1, recorded: "again" };
      const body = { lastTimestamp: timestamp(clock) };
      const there = await client.request<{ count?: number }>({ method: "PATCH", path, body, timeoutMs });
      return raise(path, (there.count ?? 1) + times);
    }
  };

  const raise = async (path: string, to: number): Promise<Counted> => {
    const count = Math.min(to, 2 ** 31 - 1);
    const body = { count, lastTimestamp: timestamp(clock) };
    await client.request({ method: "PATCH", path, body, timeoutMs });
    return { count, recorded: "again" };
  };

  const write = async (collection: string, event: ObjectEvent, times: number): Promise<EventResult> => {
    const name = eventName(event);
    const path = `${collection}/${name}`;
    const named = { collection, name, path, event };
    const before = counts.get(path);
    counts.delete(path);
    const { count, recorded } =
      before === undefined ? await create(named, times) : await raiseOrCreate(named, before, times);
    setLatest(counts, path, count, maxRememberedCounts);
    return recorded;
  };

  const raiseOrCreate = async (named: NamedEvent, before: number, times: number): Promise<Counted> => {
    try {
      return await raise(named.path, before + times);
    } catch (error) {
      if (isNotFound(error)) return create(named, times); // Events expire after an hour by default
      throw error;
    }
  };

  const failed = (namespace: string, event: ObjectEvent, error: unknown): void => {
    failures.inc();
    if (rejectsAllEvents(error)) setLatest(rejecting, namespace, clock.monotonic() + rejectedPauseMs, maxRejecting);
    if (clock.monotonic() < loggedAt + logEveryMs) {
      unlogged++;
      return;
    }
    const { kind, namespace: where, name } = event.regarding;
    const about = { reason: event.reason, kind, namespace: where, name };
    const others = unlogged > 0 ? { others: unlogged } : {};
    log.warn(logMessages.eventNotWritten, { ...about, ...others, error: errorText(error) });
    loggedAt = clock.monotonic();
    unlogged = 0;
  };

  const recordedAs = async (event: ObjectEvent, times: number): Promise<EventResult> => {
    const namespace = event.regarding.namespace || "default";
    if (clock.monotonic() < (rejecting.get(namespace) ?? Number.NEGATIVE_INFINITY)) {
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

/** An Event with its name and path. The collection is the path of the Events of its namespace. */
interface NamedEvent {
  readonly collection: string;
  readonly name: string;
  readonly path: string;
  readonly event: ObjectEvent;
}

/** Count of an Event after a write. */
interface Counted {
  readonly count: number;
  readonly recorded: Exclude<EventResult, "failed">;
}

/** Reports whether the namespace rejects all Events now: 403 if it is being deleted or its quota is full, 404 if it is gone. */
function rejectsAllEvents(error: unknown): boolean {
  return error instanceof ApiError && [403, 404].includes(error.status);
}
