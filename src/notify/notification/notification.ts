// Notifications: outcomes, text and template of a message, made from Events. Pure.
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import { printable } from "../../lib/printable.ts";
import { type NotifiedOutcome, outcomeOf } from "./outcomes.ts";

/** A notification has the content of one Event and nothing else. Every text is one printable line. */
export interface Notification {
  readonly outcome: NotifiedOutcome;
  readonly type: ObjectEvent["type"];
  readonly reason: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly message: string;
  /** Time of the Event, as RFC 3339 in UTC. */
  readonly time: string;
}

/** Returns the notification of an Event; undefined if the Event is not about configuration. `now` is milliseconds since the epoch. */
export function notificationOf(
  { regarding, type, reason, message }: ObjectEvent,
  now: number,
): Notification | undefined {
  // The Event on the workload has the same content.
  if (regarding.kind === "Pod") return undefined;
  const outcome = outcomeOf(reason);
  if (outcome === undefined) return undefined;
  const { kind } = regarding;
  const [namespace, name, shown] = [printable(regarding.namespace), printable(regarding.name), printable(message)];
  const time = new Date(now).toISOString();
  return { outcome, type, reason, kind, namespace, name, message: shown, time };
}

/** The number of notifications of a namespace that were not sent. */
export interface UnsentCount {
  /** Undefined: the sum of all namespaces without a separate count. */
  readonly namespace: string | undefined;
  readonly count: number;
}

/** A notification with the rendered text. */
export interface NotificationMessage {
  /** Unique id. A retry has the same id. */
  readonly id: string;
  readonly notification: Notification;
  /** Text for people, escaped for the receiver. Only the template can contain formatting. */
  readonly text: string;
  /** Notifications before this one that were not sent. */
  readonly unsent: readonly UnsentCount[];
}
