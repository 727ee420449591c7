import { counter } from "../metrics/metric-row.ts";

/** What is told of notifications. */
export const notificationMetrics = {
  notifications: counter("wave_notifications_total", {
    help: "Notifications by the type of their receiver and what became of them",
    labels: {
      receiver: ["slack", "teams", "googleChat", "webhook", "cloudEvents"],
      result: {
        sent: "the receiver took it",
        failed: "the receiver refused it, or did not take it after several tries",
        dropped: "too many waited, or Wave ended; the next message says how many",
      },
    },
    only: "--notify",
  }),
};
