import { hash } from "node:crypto";
import type { Clock } from "../../lib/clock.ts";
import { printable } from "../../lib/printable.ts";

/**
 * The object that an Event is about. `kubectl describe` finds Events by the kind, namespace, name and uid of this object
 * (https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#objectreference-v1-core).
 */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for a cluster-scoped object. Its Events are in namespace "default". */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** An Event to report on an object. */
export interface ObjectEvent {
  readonly regarding: ObjectReference;
  readonly type: "Normal" | "Warning";
  /** CamelCase. */
  readonly reason: string;
  /** Written as one printable line, truncated to {@link maxMessageBytes}. Never contains a value of a ConfigMap or Secret. */
  readonly message: string;
  /** What identifies the Event among those of its object and reason. With it, the message may differ. Default: the message. */
  readonly id?: string;
  /** Events of different objects with the same `group` are one notification. Default: the Event alone is one. */
  readonly group?: string;
  /** Set if the Event may not be new: this replica "reported" the problem before, or "perhaps" the previous leader did. */
  readonly repeats?: "reported" | "perhaps";
}

/** Maximum length of a message, in bytes. This is the limit of the API server. */
export const maxMessageBytes = 1024;

/** The replica that writes Events, and the clock for their timestamps. */
export interface EventSource {
  readonly clock: Clock;
  /** Name of the replica. */
  readonly instance: string;
}

/** Returns the API object of an Event with this count. `name` is its {@link eventName}. */
export function toEventBody(
  { regarding, type, reason, message }: ObjectEvent,
  name: string,
  count: number,
  { clock, instance }: EventSource,
): object {
  const { namespace, ...clusterScoped } = regarding;
  const now = timestamp(clock);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace: namespace || "default" },
    involvedObject: namespace === "" ? clusterScoped : regarding,
    type,
    reason,
    message: truncateUtf8(printable(message), maxMessageBytes),
    source: { component: "wave" },
    reportingComponent: "wave",
    reportingInstance: instance,
    firstTimestamp: now,
    lastTimestamp: now,
    count,
  };
}

/** Returns the name of the Event: the valid start of the object name, and 16 digits of a hash of its content. */
export function eventName({ regarding, type, reason, message, id = message }: ObjectEvent): string {
  const content = JSON.stringify([regarding.uid, regarding.name, type, reason, id]);
  const digits = hash("sha256", content, "hex").slice(0, 16);
  return `${regarding.name.slice(0, 200).replace(/[^a-z0-9]+$/, "")}.${digits}`;
}

/** Returns the current time as metav1.Time, which has no fractions of a second. */
export function timestamp(clock: Clock): string {
  return `${new Date(clock.wall()).toISOString().slice(0, 19)}Z`;
}

/** Truncates a text to at most `bytes` bytes of UTF-8, ending with "…". A truncated text is a copy. */
export function truncateUtf8(message: string, bytes: number): string {
  const encoded = Buffer.from(message);
  if (encoded.length <= bytes) return message;
  return `${encoded.toString("utf8", 0, bytes - 6).replace(/\uFFFD$/, "")}…`;
}
