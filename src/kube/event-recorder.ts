import { createHash } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import { workloadMetrics } from "../telemetry/catalogue/workloads.ts";
import { errorText } from "../telemetry/error-text.ts";
import type { Logger } from "../telemetry/log.ts";
import type { MetricsRegistry } from "../telemetry/metrics.ts";
import type { ApiClient } from "./client.ts";
import { ApiError, isAlreadyExists, isNotFound } from "./errors.ts";
import { resourcePath, resources } from "./resources.ts";

/** The object that an Event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for an object without a namespace; its Events are then kept in "default". */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Something to tell the owner of an object. */
export interface ObjectEvent {
  readonly regarding: ObjectReference;
  readonly type: "Normal" | "Warning";
  /** CamelCase. */
  readonly reason: string;
  /** Cut at {@link longestMessage}. Never holds a value of a ConfigMap or Secret. */
  readonly message: string;
  /** Where it may be no news: it was "told" before, or "perhaps", by whoever led before. */
  readonly repeats?: "told" | "perhaps";
}

/** What became of an Event: it was the first that says so, was counted on one that is there, or could not be written. */
export type Recorded = "first" | "again" | "failed";

/** How many bytes of a message the API server takes. */
export const longestMessage = 1024;

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
export interface EventRecorderOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly component: string;
  /** Which replica writes. */
  readonly instance: string;
  /** Told of each Event when it is written or has failed. */
  readonly onRecorded?: ((event: ObjectEvent, recorded: Recorded) => void) | undefined;
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
      await client.request({ method: "POST", path, body: bodyOf(event, times, options), timeoutMs });
      return { count: times, recorded: "first" };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const body = { lastTimestamp: timestamp(clock) };
      const there = await client.request<{ count?: number }>({
        method: "PATCH",
        path: `${path}/${nameOf(event)}`,
        body,
        timeoutMs,
      });
      return raise(path, event, (there.count ?? 1) + times);
    }
  };

  const raise = async (path: string, event: ObjectEvent, to: number): Promise<Counted> => {
    const count = Math.min(to, 2 ** 31 - 1);
    const body = { count, lastTimestamp: timestamp(clock) };
    await client.request({ method: "PATCH", path: `${path}/${nameOf(event)}`, body, timeoutMs });
    return { count, recorded: "again" };
  };

  const write = async (path: string, event: ObjectEvent, times: number): Promise<Recorded> => {
    const key = `${path}/${nameOf(event)}`;
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

  const recordedAs = async (event: ObjectEvent, times: number): Promise<Recorded> => {
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
  readonly recorded: Exclude<Recorded, "failed">;
}

/**
 * Whether a failure says that the namespace takes no Event now, whatever its text: one that ends or whose quota is full
 * answers 403, one that is gone 404.
 */
function refusesAll(error: unknown): boolean {
  return error instanceof ApiError && [403, 404].includes(error.status);
}

function bodyOf(event: ObjectEvent, count: number, { clock, component, instance }: EventRecorderOptions): object {
  const { regarding, type, reason, message } = event;
  const { namespace = "default", ...reference } = { ...regarding, namespace: regarding.namespace || undefined };
  const now = timestamp(clock);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: nameOf(event), namespace },
    involvedObject: { ...reference, ...(regarding.namespace && { namespace: regarding.namespace }) },
    type,
    reason,
    message: cut(message, longestMessage),
    source: { component },
    reportingComponent: component,
    reportingInstance: instance,
    firstTimestamp: now,
    lastTimestamp: now,
    count,
  };
}

/** The object's name, as far as it may be the beginning of one, and 16 digits of a hash over what the Event says. */
function nameOf({ regarding, type, reason, message }: ObjectEvent): string {
  const said = JSON.stringify([regarding.uid, regarding.name, type, reason, message]);
  const digits = createHash("sha256").update(said).digest("hex").slice(0, 16);
  return `${regarding.name.slice(0, 200).replace(/[^a-z0-9]+$/, "")}.${digits}`;
}

/** metav1.Time has no fractions of a second. */
function timestamp(clock: Clock): string {
  return `${new Date(clock.wall()).toISOString().slice(0, 19)}Z`;
}

/** A text as at most `bytes` bytes of UTF-8, with a mark where something is cut off. What is cut is a copy. */
export function cut(message: string, bytes: number): string {
  const encoded = Buffer.from(message);
  if (encoded.length <= bytes) return message;
  return `${encoded.toString("utf8", 0, bytes - 6).replace(/\uFFFD$/, "")}…`;
}
