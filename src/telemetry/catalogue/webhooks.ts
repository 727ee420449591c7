import { counter, gauge, histogram } from "../metrics/series.ts";

const only = "--enable-webhooks";

/** Metrics of the webhook: admission reviews, HTTP requests and the serving certificate. Each replica has its own values. */
export const webhookMetrics = {
  reviews: counter("wave_admission_reviews_total", {
    help: "Number of answered admission reviews, by outcome.",
    labels: {
      kind: "each watched kind of workload, Pod, or other",
      operation: ["CREATE", "UPDATE", "other"],
      outcome: {
        hashed: "The webhook added the hash of the configuration",
        kept: "The webhook restored the previous hash",
        schedulingHeld: "The webhook added a scheduling hold, because a required object or key is missing",
        schedulingReleased: "The webhook removed the scheduling hold",
        waiting: "A required object or key is missing, and the workload has no scheduling hold",
        pointed: "The webhook pointed a new Pod at its pinned copies",
        current: "No change was necessary",
        ignored: "The workload has not opted in",
        denied: "The precondition of the request failed",
        unread:
          "The configuration could not be read, or is too large for a review; the request is allowed unchanged, and the controller plans the workload later",
        unknown: "The object is not relevant for Wave",
      },
    },
    only,
  }),
  duration: histogram("wave_admission_duration_seconds", {
    help: "Time from the arrival of an admission review to its response.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    only,
  }),
  requests: counter("wave_webhook_requests_total", {
    help: "Number of requests to the webhook, by the status of the response.",
    labels: { code: ["200", "400", "404", "405", "411", "413", "415", "other"] },
    only,
  }),
  certificateExpiry: gauge("wave_webhook_certificate_expiration_timestamp_seconds", {
    help: "Expiry time of the serving certificate of the webhook, in seconds since the epoch; 0 before there is one.",
    only,
  }),
};
