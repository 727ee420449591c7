import type { ObjectEvent } from "../../kube/events/event-object.ts";
import { printable } from "../../lib/printable.ts";
import { type NotifiedOutcome, outcomeOf } from "./outcomes.ts";

/** Something to tell people: what an Event tells, and nothing else. Every text is one printable line. */
export interface Notification {
  readonly outcome: NotifiedOutcome;
  readonly type: ObjectEvent["type"];
  readonly reason: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly message: string;
  /** When, as RFC 3339 in UTC. */
  readonly time: string;
}

/** What an Event tells people; undefined for one that is not about configuration. `now` is milliseconds since the epoch. */
export function notificationOf(
  { regarding, type, reason, message }: ObjectEvent,
  now: number,
): Notification | undefined {
  const outcome = outcomeOf(reason);
  if (outcome === undefined) return undefined;
  const { kind, namespace, name } = regarding;
  const time = new Date(now).toISOString();
  return { outcome, type, reason, kind, namespace, name: printable(name), message: printable(message), time };
}

/** How many notifications of a namespace were not sent. */
export interface Unsent {
  /** Undefined: of those that were too many to be counted apart. */
  readonly namespace: string | undefined;
  readonly count: number;
}

/** A notification as it is sent. */
export interface Message {
  /** Of its own, and the same when it is sent again because no answer came. */
  readonly id: string;
  readonly notification: Notification;
  /** For people, in the form that the receiver takes: nothing in it but the template is more than text there. */
  readonly text: string;
  /** What was not sent before it. */
  readonly unsent: readonly Unsent[];
}
