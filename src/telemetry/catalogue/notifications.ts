import { counter } from "../metrics/series.ts";

/** Metrics of the messages to the receivers of `--notify`. A message with several tries has one result. */
export const notificationMetrics = {
  notifications: counter("wave_notifications_total", {
    help: "Number of notifications, by the receiver and the result.",
    labels: {
      receiver: "the `name` of each receiver",
      result: {
        sent: "The receiver accepted the message",
        failed: "The receiver rejected the message, or did not accept it after several tries",
        dropped: "Too many messages waited, or Wave ended; the next message has the number of dropped messages",
      },
    },
    only: "--notify",
  }),
};
