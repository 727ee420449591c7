import { FairQueue } from "../runtime/fair-queue.ts";
import type { Notification, Unsent } from "./notification/notification.ts";

/** How many notifications may wait for one receiver: of 2 KiB each, if somebody makes them as long as they get. */
export const mostWaiting = 100;

/** Namespaces whose losses are counted apart. */
const mostCounted = 100;

/** How many of these one message names. */
const mostNamed = 3;

/**
 * What one receiver is still to be told, in turns between namespaces. Where that is too much, the namespace that has most
 * loses its oldest, and a later message tells how many were lost.
 */
export class Backlog {
  readonly #waiting = new Map<string, Notification>();
  readonly #queue = new FairQueue((key) => key.slice(0, key.indexOf("/")));
  readonly #lost = new Map<string | undefined, number>();
  #added = 0;

  /** How many wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Puts one last of its namespace; what was lost for it, undefined where there was room. */
  add(notification: Notification): Notification | undefined {
    const key = `${notification.namespace}/${this.#added++}`;
    this.#waiting.set(key, notification);
    this.#queue.add(key, "high");
    return this.#waiting.size > mostWaiting ? this.#lose() : undefined;
  }

  /** Takes out the one whose turn it is; undefined where there is none. */
  take(): Notification | undefined {
    return this.#remove(this.#queue.take());
  }

  /** Counts notifications that were not sent, to be told of later. */
  countLost({ namespace, count }: Unsent): void {
    const known = this.#lost.has(namespace) || this.#lost.size < mostCounted ? namespace : undefined;
    this.#lost.set(known, (this.#lost.get(known) ?? 0) + count);
  }

  /** What was lost since this was asked last, the namespaces that lost most by their names. */
  takeLost(): readonly Unsent[] {
    const all = Array.from(this.#lost, ([namespace, count]) => ({ namespace, count }));
    this.#lost.clear();
    const named = all.filter(({ namespace }) => namespace !== undefined).sort((a, b) => b.count - a.count);
    const shown = new Set(named.slice(0, mostNamed));
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
