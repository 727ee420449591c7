import { randomUUID } from "node:crypto";
import { type Clock, longestTimerMs, sleep } from "../lib/clock.ts";
import { backoffMs } from "../runtime/backoff.ts";
import { TokenBucket } from "../runtime/token-bucket.ts";
import { Waker } from "../runtime/waker.ts";
import type { notificationMetrics } from "../telemetry/catalogue/notifications.ts";
import type { Logger } from "../telemetry/logging/log.ts";
import type { LabelsOf } from "../telemetry/metrics/metric-row.ts";
import { Backlog } from "./backlog.ts";
import { type Delivery, type DeliveryRequest, deliver } from "./delivery.ts";
import type { ReceiverSettings } from "./file/receiver-settings.ts";
import { formats } from "./formats/formats.ts";
import { fill } from "./notification/message-template.ts";
import type { Message, Notification, Unsent } from "./notification/notification.ts";

/** What became of a notification for one receiver. */
type NotificationResult = LabelsOf<typeof notificationMetrics.notifications>["result"];

/** What a {@link Receiver} works with. */
export interface ReceiverOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  readonly userAgent: string;
  readonly count: (type: ReceiverSettings["type"], result: NotificationResult, by: number) => void;
}

/** How many are sent at once after a quiet time, before the rate holds. */
const burst = 10;

/** How often one message is tried. With these waits the last try is 15 to 31 s after the first. */
const mostTries = 6;
const retries = { baseMs: 1_000, maxMs: 60_000 };

/**
 * Tells one receiver what concerns it, one message at a time. Whoever tells it waits for nothing: an endpoint that hangs
 * fills a backlog of its own, and what does not fit is counted.
 */
export class Receiver {
  readonly #settings: ReceiverSettings;
  readonly #options: ReceiverOptions;
  readonly #backlog = new Backlog();
  readonly #waker = new Waker();
  readonly #tokens: TokenBucket;
  /** Whether the last message failed, so that it is logged once. */
  #failing = false;

  constructor(settings: ReceiverSettings, options: ReceiverOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#tokens = new TokenBucket({ clock: options.clock, perSecond: settings.perMinute / 60, burst });
  }

  /** Accepts a notification where this receiver wants it. */
  tell(notification: Notification): void {
    const { outcomes, namespaces, type } = this.#settings;
    if (!outcomes.has(notification.outcome) || namespaces?.has(notification.namespace) === false) return;
    if (this.#backlog.add(notification) !== undefined) this.#options.count(type, "dropped", 1);
    this.#waker.wake();
  }

  /**
   * Sends until `stop`, and then what the rate allows at once, each tried once more; `over` aborts what is under way. Never
   * rejects.
   */
  async run(stop: AbortSignal, over: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!stop.aborted) {
      if (this.#backlog.size === 0) await this.#waker.wait(clock, longestTimerMs, stop);
      else if (this.#tokens.take()) await this.#send(stop, over);
      else await pause(clock, this.#tokens.waitMs, stop);
    }
    while (!over.aborted && this.#backlog.size > 0 && this.#tokens.take()) await this.#send(stop, over);
    this.#forget();
  }

  async #send(stop: AbortSignal, over: AbortSignal): Promise<void> {
    const notification = this.#backlog.take();
    if (notification === undefined) return;
    const unsent = this.#backlog.takeLost();
    const delivery = await this.#deliver(this.#requestOf(notification, unsent), stop, over);
    const { type } = this.#settings;
    if (delivery.result === "sent") {
      this.#failing = false;
      return this.#options.count(type, "sent", 1);
    }
    for (const lost of [...unsent, { namespace: notification.namespace, count: 1 }]) this.#backlog.countLost(lost);
    this.#options.count(type, "failed", 1);
    this.#log("a notification could not be sent", { error: delivery.why });
  }

  /** Tries until it is sent, cannot be, or was tried often enough. */
  async #deliver(request: DeliveryRequest, stop: AbortSignal, over: AbortSignal): Promise<Delivery> {
    const { clock, random } = this.#options;
    for (let tries = 1; ; tries++) {
      const delivery = await deliver(request, clock, over);
      if (delivery.result !== "later" || tries === mostTries || stop.aborted) return delivery;
      this.#log("a notification could not be sent, trying again", { error: delivery.why });
      await pause(clock, delivery.retryAfterMs ?? backoffMs(tries - 1, { ...retries, random }), stop);
    }
  }

  #requestOf(notification: Notification, unsent: readonly Unsent[]): DeliveryRequest {
    const { type, template, headers: own, url, ca, ...settings } = this.#settings;
    const { asText, content } = formats[type];
    const text = fill(template, notification, asText) + describeUnsent(unsent);
    const message: Message = { id: randomUUID(), notification, text, unsent };
    const { headers, body } = content(message, settings);
    const agent = { "user-agent": this.#options.userAgent };
    return { url, ca, headers: { ...agent, ...own, ...headers }, body: JSON.stringify(body) };
  }

  /** Nobody waits any longer. */
  #forget(): void {
    const { size } = this.#backlog;
    if (size === 0) return;
    this.#options.count(this.#settings.type, "dropped", size);
    const { name } = this.#settings;
    this.#options.log.warn("notifications were not sent before the end", { receiver: name, count: size });
  }

  /** Once until a message succeeds: each of them fails of the same. */
  #log(message: string, fields: { readonly error: string }): void {
    const { name, url } = this.#settings;
    const level = this.#failing ? "debug" : "warn";
    this.#failing = true;
    this.#options.log[level](message, { receiver: name, host: url.host, ...fields });
  }
}

/** What was not sent, after the text of the next that is: nobody can have named a namespace to mean anything. */
function describeUnsent(unsent: readonly Unsent[]): string {
  if (unsent.length === 0) return "";
  const parts = unsent.map(({ namespace, count }) => `${count} more ${namespace ? `in ${namespace}` : "elsewhere"}`);
  return ` (and ${parts.join(", ")}, not sent)`;
}

/** As long as it takes, or until `signal` is aborted. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return sleep(clock, ms, signal).catch(() => {});
}
