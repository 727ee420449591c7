// Notifications of Events to Slack, Teams, Google Chat, webhooks and CloudEvents. Knows kube/events and runtime, not the controllers.
import type { ObjectEvent } from "../kube/events/event-object.ts";
import type { EventResult } from "../kube/events/event-recorder.ts";
import { setLatest } from "../lib/latest-entries.ts";
import { notificationMetrics } from "../telemetry/catalogue/notifications.ts";
import type { ProcessContext } from "../telemetry/process-context.ts";
import type { ReceiverSettings } from "./file/notify-file.ts";
import { notificationOf } from "./notification/notification.ts";
import { NotificationReceiver } from "./receiver.ts";

/** Sends notifications of Events. */
export interface Notifier {
  /** Must be called for every Event, whether or not it could be written. Never blocks. */
  recorded(event: ObjectEvent, recorded: EventResult): void;
  /** Sends until `signal` is aborted, and then for at most a second. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/** Maximum time for the last messages, in milliseconds. */
const drainMs = 1_000;

/** Creates a notifier. It sends nothing before `run`. */
export function createNotifier({
  receivers,
  metrics,
  clock,
  version,
  ...options
}: Pick<ProcessContext, "clock" | "log" | "metrics"> & {
  readonly receivers: readonly ReceiverSettings[];
  readonly version: string;
  /** Returns numbers in [0, 1). Default: Math.random. */
  readonly random?: () => number;
}): Notifier {
  const names = receivers.map(({ name }) => name);
  const counter = metrics.counter(notificationMetrics.notifications, { receiver: names });
  const receiverOptions = { random: Math.random, ...options, clock, counter, userAgent: `wave/${version}` };
  const isFirstOfGroup = onePerGroup();
  const all = receivers.map((receiver) => new NotificationReceiver(receiver, receiverOptions));

  return {
    recorded: (event, recorded) => {
      if (!isNew(event, recorded) || !isFirstOfGroup(event)) return;
      const notification = notificationOf(event, clock.wall());
      if (notification !== undefined) for (const receiver of all) receiver.enqueue(notification);
    },
    run: async (signal) => {
      const abort = new AbortController();
      let cancel = () => {};
      const stop = () => {
        cancel = clock.timer(drainMs, () => abort.abort());
      };
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
      await Promise.all(all.map((receiver) => receiver.run(signal, abort.signal)));
      cancel();
    },
  };
}

/**
 * Reports whether an Event is news. The controller repeats the Event of a lasting problem before it expires: that is never news.
 * A new leader repeats it because it does not know the Events of the previous leader: that is news only if there was no Event.
 */
function isNew({ repeats }: ObjectEvent, recorded: EventResult): boolean {
  if (repeats === "reported") return false;
  return repeats === undefined || recorded !== "again";
}

/** The remembered groups: tenants decide how many there are. */
const mostRemembered = 1_000;

/** Returns a function that reports whether an Event is the first one of its group: all workloads that one change halts are one message. */
function onePerGroup(): (event: ObjectEvent) => boolean {
  const sent = new Map<string, true>();
  return ({ group }) => {
    if (group === undefined) return true;
    if (sent.has(group)) return false;
    setLatest(sent, group, true, mostRemembered);
    return true;
  };
}
