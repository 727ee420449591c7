import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import { errorText } from "../telemetry/error-text.ts";
import type { Logger } from "../telemetry/log.ts";
import type { ApiClient } from "./client.ts";
import { isNotFound } from "./errors.ts";
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
  /** Cut at 1,024 bytes. Never holds a value of a ConfigMap or Secret. */
  readonly message: string;
}

/** Writes core/v1 Events. */
export interface EventRecorder {
  /** Resolves when it is written or has failed, which is logged: never rejects. Repeats raise the first Event's count. */
  record(event: ObjectEvent): Promise<void>;
}

/** An Event that was written, as far as a repeat of it needs to know. */
interface Written {
  readonly name: string;
  count: number;
}

/** How many Events are remembered, the most recent ones: about 300 bytes each. */
const remembered = 2_000;

/**
 * A recorder of Events as `kubectl describe` shows them. What repeats is counted on the Event that was written first, as
 * client-go's correlator does, for the Events that this process remembers.
 */
export function createEventRecorder(options: {
  readonly client: Pick<ApiClient, "request">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly component: string;
  /** Which replica writes. */
  readonly instance: string;
}): EventRecorder {
  const { client, clock, log, component, instance } = options;
  const written = new Map<string, Written>();
  const underWay = new Map<string, Promise<void>>();

  const create = async (key: string, event: ObjectEvent): Promise<void> => {
    const { regarding, type, reason, message } = event;
    const { namespace = "default", ...reference } = { ...regarding, namespace: regarding.namespace || undefined };
    const name = `${regarding.name.slice(0, 200).replace(/[^a-z0-9]+$/, "")}.${randomBytes(8).toString("hex")}`;
    const now = timestamp(clock);
    const body = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace },
      involvedObject: { ...reference, ...(regarding.namespace && { namespace: regarding.namespace }) },
      type,
      reason,
      message: cut(message, 1024),
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    };
    await client.request({ method: "POST", path: resourcePath(resources.events, { namespace }), body });
    remember(key, { name, count: 1 });
  };

  const remember = (key: string, event: Written) => {
    written.delete(key);
    written.set(key, event);
    const oldest = written.size > remembered ? written.keys().next().value : undefined;
    if (oldest !== undefined) written.delete(oldest);
  };

  const write = async (key: string, event: ObjectEvent): Promise<void> => {
    const before = written.get(key);
    if (before === undefined) return create(key, event);
    const path = resourcePath(resources.events, {
      namespace: event.regarding.namespace || "default",
      name: before.name,
    });
    const count = before.count + 1;
    try {
      await client.request({ method: "PATCH", path, body: { count, lastTimestamp: timestamp(clock) } });
      remember(key, { name: before.name, count });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      written.delete(key); // Events live for an hour by default
      await create(key, event);
    }
  };

  const record = async (event: ObjectEvent): Promise<void> => {
    const key = keyOf(event);
    // The same Event twice at once is written one after the other, so that the second finds the first.
    const turn = (underWay.get(key) ?? Promise.resolve())
      .then(() => write(key, event))
      .catch((error: unknown) => {
        const { kind, namespace, name } = event.regarding;
        log.warn("an Event could not be written", {
          reason: event.reason,
          kind,
          namespace,
          name,
          error: errorText(error),
        });
      });
    underWay.set(key, turn);
    await turn;
    if (underWay.get(key) === turn) underWay.delete(key);
  };
  return { record };
}

/** Hashed, because messages are long and 2,000 of them are remembered. */
function keyOf({ regarding, type, reason, message }: ObjectEvent): string {
  return createHash("sha256")
    .update([regarding.uid, regarding.name, type, reason, message].join("\0"))
    .digest("base64");
}

/** metav1.Time has no fractions of a second. */
function timestamp(clock: Clock): string {
  return `${new Date(clock.wall()).toISOString().slice(0, 19)}Z`;
}

/** At most `bytes` bytes of UTF-8, which is what the API server allows, with a mark where something is cut off. */
function cut(message: string, bytes: number): string {
  const encoded = Buffer.from(message);
  if (encoded.length <= bytes) return message;
  return `${encoded.toString("utf8", 0, bytes - 6).replace(/\uFFFD$/, "")}…`;
}
