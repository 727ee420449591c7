import { createHash } from "node:crypto";
import type { Clock } from "../../lib/clock.ts";

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
  /** Cut at {@link maxMessageBytes}. Never holds a value of a ConfigMap or Secret. */
  readonly message: string;
  /** Where it may be no news: it was "told" before, or "perhaps", by whoever led before. */
  readonly repeats?: "told" | "perhaps";
}

/** How many bytes of a message the API server takes. */
export const maxMessageBytes = 1024;

/** Who tells. */
export interface EventSource {
  readonly clock: Clock;
  readonly component: string;
  /** Which replica writes. */
  readonly instance: string;
}

/** The Event that tells of it for the first time, as the API server takes it. */
export function toEventBody(event: ObjectEvent, count: number, { clock, component, instance }: EventSource): object {
  const { regarding, type, reason, message } = event;
  const { namespace = "default", ...reference } = { ...regarding, namespace: regarding.namespace || undefined };
  const now = timestamp(clock);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: eventName(event), namespace },
    involvedObject: { ...reference, ...(regarding.namespace && { namespace: regarding.namespace }) },
    type,
    reason,
    message: truncateUtf8(message, maxMessageBytes),
    source: { component },
    reportingComponent: component,
    reportingInstance: instance,
    firstTimestamp: now,
    lastTimestamp: now,
    count,
  };
}

/** The object's name, as far as it may be the beginning of one, and 16 digits of a hash over what the Event says. */
export function eventName({ regarding, type, reason, message }: ObjectEvent): string {
  const said = JSON.stringify([regarding.uid, regarding.name, type, reason, message]);
  const digits = createHash("sha256").update(said).digest("hex").slice(0, 16);
  return `${regarding.name.slice(0, 200).replace(/[^a-z0-9]+$/, "")}.${digits}`;
}

/** metav1.Time has no fractions of a second. */
export function timestamp(clock: Clock): string {
  return `${new Date(clock.wall()).toISOString().slice(0, 19)}Z`;
}

/** A text as at most `bytes` bytes of UTF-8, with a mark where something is cut off. What is cut is a copy. */
export function truncateUtf8(message: string, bytes: number): string {
  const encoded = Buffer.from(message);
  if (encoded.length <= bytes) return message;
  return `${encoded.toString("utf8", 0, bytes - 6).replace(/\uFFFD$/, "")}…`;
}
