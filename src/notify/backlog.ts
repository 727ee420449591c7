import { FairQueue } from "../runtime/fair-queue.ts";
import type { Notification, UnsentCount } from "./notification/notification.ts";

/** Maximum number of notifications that wait for one receiver. A notification has at most about 2 KiB. */
const maxQueued = 100;

/** Maximum number of namespaces with a separate count of lost notifications. */
const maxCountedNamespaces = 100;

/** Maximum number of namespaces that one message names. */
const maxNamedNamespaces = 3;

/**
 * The waiting notifications of one receiver, taken round-robin by namespace. If there are too many, the namespace with the most loses
 * its oldest one, and a later message reports how many were lost.
 */
export class NotificationBacklog {
  readonly #waiting = new Map<string, Notification>();
  readonly #queue = new FairQueue((key) => key.slice(0, key.indexOf("/")));
  readonly #lost = new Map<string | undefined, number>();
  #added = 0;

  get size(): number {
    return this.#waiting.size;
  }

  /** Adds a notification as the last of its namespace. Returns the one that was lost for it; undefined if there was room. */
  add(notification: Notification): Notification | undefined {
    const key = `${notification.namespace}/${this.#added++}`;
    this.#waiting.set(key, notification);
    this.#queue.add(key, "high");
    return this.#waiting.size > maxQueued ? this.#lose() : undefined;
  }

  /** Removes and returns the next notification; undefined if none waits. */
  take(): Notification | undefined {
    return this.#remove(this.#queue.take());
  }

  /** Counts notifications that were not sent, for a later message. */
  countLost({ namespace, count }: UnsentCount): void {
    const known = this.#lost.has(namespace) || this.#lost.size < maxCountedNamespaces ? namespace : undefined;
    this.#lost.set(known, (this.#lost.get(known) ?? 0) + count);
  }

  /** Returns the losses since the last call and resets them. The namespaces with the most losses are named. */
  takeLost(): readonly UnsentCount[] {
    const all = Array.from(this.#lost, ([namespace, count]) => ({ namespace, count }));
    this.#lost.clear();
    const named = all.filter(({ namespace }) => namespace !== undefined).sort((a, b) => b.count - a.count);
    const shown = new Set(named.slice(0, maxNamedNamespaces));
    const count = all.reduce((sum, each) => (shown.has(each) ? sum : sum + each.count), 0);
    return count === 0 ? [...shown] : [...shown, { namespace: undefined, count }];
  }

  #lose(): Notification | undefined {
    const lost = this.#remove(this.#queue.takeFromLongest());
    if (lost !== undefined) this.countLost({ namespace: lost.namespace, count: 1 });
    return lost;
  }

  #remove(key: string | undefined): Notification | undefined {
    if (key === undefined) return undefined;
    const notification = this.#waiting.get(key);
    this.#waiting.delete(key);
    return notification;
  }
}
