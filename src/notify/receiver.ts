import { randomUUID } from "node:crypto";
import { type Clock, longestTimerMs, sleep } from "../lib/clock.ts";
import { FairQueue } from "../runtime/fair-queue.ts";
import { backoffMs, Waker } from "../runtime/timers.ts";
import { TokenBucket } from "../runtime/token-bucket.ts";
import type { notificationMetrics } from "../telemetry/catalogue/notifications.ts";
import { logMessages } from "../telemetry/logging/log-messages.ts";
import type { Counter } from "../telemetry/metrics/metrics.ts";
import type { LabelsOf } from "../telemetry/metrics/series.ts";
import type { ProcessContext } from "../telemetry/process-context.ts";
import { type Delivery, type DeliveryRequest, deliver } from "./delivery.ts";
import type { ReceiverSettings } from "./file/notify-file.ts";
import { formats } from "./formats/formats.ts";
import { renderTemplate } from "./notification/message-template.ts";
import type { Notification, NotificationMessage, UnsentCount } from "./notification/notification.ts";

/** Options of {@link NotificationReceiver}. */
interface ReceiverOptions extends Pick<ProcessContext, "clock" | "log" | "random"> {
  readonly userAgent: string;
  readonly counter: Counter<LabelsOf<typeof notificationMetrics.notifications>>;
}

/** Number of notifications that may be sent at once after a quiet time, before the rate limit applies. */
const burst = 10;

/** Maximum number of attempts per message. With these delays the last attempt is 15 to 31 s after the first. */
const maxAttempts = 6;
const retries = { baseMs: 1_000, maxMs: 60_000 };

/** Sends to one receiver, one message at a time. `enqueue` never blocks: what does not fit in the receiver's own backlog is counted. */
export class NotificationReceiver {
  readonly #settings: ReceiverSettings;
  readonly #options: ReceiverOptions;
  readonly #backlog = new NotificationBacklog();
  readonly #waker = new Waker();
  readonly #tokens: TokenBucket;
  /** Whether the last message failed, so that only the first failure is logged. */
  #failing = false;

  constructor(settings: ReceiverSettings, options: ReceiverOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#tokens = new TokenBucket({ clock: options.clock, perSecond: settings.perMinute / 60, burst });
  }

  /** Adds a notification to the backlog if it matches the settings of this receiver. */
  enqueue(notification: Notification): void {
    const { outcomes, namespaces, name } = this.#settings;
    if (!outcomes.has(notification.outcome) || namespaces?.has(notification.namespace) === false) return;
    if (this.#backlog.add(notification)) this.#options.counter.inc({ receiver: name, result: "dropped" });
    this.#waker.wake();
  }

  /** Sends until `stop`, then tries once each notification that the rate limit allows. `abort` ends a request in flight. Never rejects. */
  async run(stop: AbortSignal, abort: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!stop.aborted) {
      if (this.#backlog.size === 0) await this.#waker.wait(clock, longestTimerMs, stop);
      else if (this.#tokens.take()) await this.#send(stop, abort);
      else await pause(clock, this.#tokens.waitMs, stop);
    }
    while (!abort.aborted && this.#backlog.size > 0 && this.#tokens.take()) await this.#send(stop, abort);
    this.#dropRest();
  }

  async #send(stop: AbortSignal, abort: AbortSignal): Promise<void> {
    const notification = this.#backlog.take();
    if (notification === undefined) return;
    const unsent = this.#backlog.takeLost();
    const delivery = await this.#deliver(this.#requestOf(notification, unsent), stop, abort);
    const { name } = this.#settings;
    if (delivery.result === "sent") {
      this.#failing = false;
      return this.#options.counter.inc({ receiver: name, result: "sent" });
    }
    for (const lost of [...unsent, { namespace: notification.namespace, count: 1 }]) this.#backlog.countLost(lost);
    this.#options.counter.inc({ receiver: name, result: "failed" });
    this.#log(logMessages.notificationLost, { error: delivery.why });
  }

  /** Sends with retries until success, a final failure, or the last attempt. */
  async #deliver(request: DeliveryRequest, stop: AbortSignal, abort: AbortSignal): Promise<Delivery> {
    const { clock, random } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const delivery = await deliver(request, clock, abort);
      if (delivery.result !== "retry" || attempt === maxAttempts || stop.aborted) return delivery;
      this.#log(logMessages.notificationDelayed, { error: delivery.why });
      await pause(clock, delivery.retryAfterMs ?? backoffMs(attempt - 1, { ...retries, random }), stop);
    }
  }

  #requestOf(notification: Notification, unsent: readonly UnsentCount[]): DeliveryRequest {
    const { type, template, headers: own, url, ca, ...settings } = this.#settings;
    const { escape: escapeText, content } = formats[type];
    const text = renderTemplate(template, notification, escapeText) + unsentNote(unsent);
    const message: NotificationMessage = { id: randomUUID(), notification, text, unsent };
    const { headers, body } = content(message, settings);
    const agent = { "user-agent": this.#options.userAgent };
    return { url, ca, headers: { ...agent, ...own, ...headers }, body: JSON.stringify(body) };
  }

  /** Counts and logs the notifications that are still waiting at the end. */
  #dropRest(): void {
    const { size } = this.#backlog;
    if (size === 0) return;
    const { name } = this.#settings;
    this.#options.counter.inc({ receiver: name, result: "dropped" }, size);
    this.#options.log.warn(logMessages.notificationsUnsent, { receiver: name, count: size });
  }

  /** Logs a warning once until a message succeeds, because all messages fail for the same reason. */
  #log(message: string, fields: { readonly error: string }): void {
    const { name, url } = this.#settings;
    const level = this.#failing ? "debug" : "warn";
    this.#failing = true;
    this.#options.log[level](message, { receiver: name, host: url.host, ...fields });
  }
}

/** Returns the note about lost notifications that follows the text of the next message. Namespace names need no escape. */
function unsentNote(unsent: readonly UnsentCount[]): string {
  if (unsent.length === 0) return "";
  const parts = unsent.map(({ namespace, count }) => `${count} more ${namespace ? `in ${namespace}` : "elsewhere"}`);
  return ` (and ${parts.join(", ")}, not sent)`;
}

/** Waits until the time is over or `signal` is aborted. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return sleep(clock, ms, signal).catch(() => {});
}

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
class NotificationBacklog {
  readonly #waiting = new Map<string, Notification>();
  readonly #queue = new FairQueue((key) => key.slice(0, key.indexOf("/")));
  readonly #lost = new Map<string | undefined, number>();
  #added = 0;

  get size(): number {
    return this.#waiting.size;
  }

  /** Adds a notification as the last of its namespace. Reports whether another one was lost for it. */
  add(notification: Notification): boolean {
    const key = `${notification.namespace}/${this.#added++}`;
    this.#waiting.set(key, notification);
    this.#queue.add(key, "high");
    if (this.#waiting.size <= maxQueued) return false;
    const lost = this.#remove(this.#queue.takeFromLongest());
    if (lost !== undefined) this.countLost({ namespace: lost.namespace, count: 1 });
    return true;
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

  #remove(key: string | undefined): Notification | undefined {
    if (key === undefined) return undefined;
    const notification = this.#waiting.get(key);
    this.#waiting.delete(key);
    return notification;
  }
}
