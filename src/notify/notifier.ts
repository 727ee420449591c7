import type { ObjectEvent } from "../kube/events/event-object.ts";
import type { Recorded } from "../kube/events/event-recorder.ts";
import type { Clock } from "../lib/clock.ts";
import { notificationMetrics } from "../telemetry/catalogue/notifications.ts";
import type { Logger } from "../telemetry/logging/log.ts";
import type { MetricsRegistry } from "../telemetry/metrics/metrics.ts";
import type { ReceiverSettings } from "./file/receiver-settings.ts";
import { notificationOf } from "./notification/notification.ts";
import { Receiver, type ReceiverOptions } from "./receiver.ts";

/** Tells people what Events tell. */
export interface Notifier {
  /** To be told of every Event that was recorded, or could not be. Waits for nothing. */
  recorded(event: ObjectEvent, recorded: Recorded): void;
  /** Sends until `signal` is aborted, and then for a second at most. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/** What a notifier is made from. */
export interface NotifierOptions {
  readonly receivers: readonly ReceiverSettings[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly version: string;
  /** Numbers in [0, 1). Default Math.random. */
  readonly random?: () => number;
}

/** How long is waited for the last messages. */
const lastMs = 1_000;

/** Nothing is sent before `run`. */
export function createNotifier({ receivers, metrics, clock, version, ...options }: NotifierOptions): Notifier {
  const notifications = metrics.counter(notificationMetrics.notifications);
  const count: ReceiverOptions["count"] = (receiver, result, by) => notifications.inc({ receiver, result }, by);
  const about = { random: Math.random, ...options, clock, count, userAgent: `wave/${version}` };
  const all = receivers.map((receiver) => new Receiver(receiver, about));

  return {
    recorded: (event, recorded) => {
      if (!isNews(event, recorded)) return;
      const notification = notificationOf(event, clock.wall());
      if (notification !== undefined) for (const receiver of all) receiver.tell(notification);
    },
    run: async (signal) => {
      const over = new AbortController();
      let cancel = () => {};
      const stop = () => {
        cancel = clock.timer(lastMs, () => over.abort());
      };
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
      await Promise.all(all.map((receiver) => receiver.run(signal, over.signal)));
      cancel();
    },
  };
}

/**
 * What stands against a workload is told again so that its Event does not expire, and by each new leader because it cannot
 * know that the one before told it: of the first nobody needs to hear, of the second only where no Event was there.
 */
function isNews({ repeats }: ObjectEvent, recorded: Recorded): boolean {
  if (repeats === "told") return false;
  return repeats === undefined || recorded !== "again";
}
