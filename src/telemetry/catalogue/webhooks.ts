import { counter, gauge, histogram } from "../metrics/metric-row.ts";

const only = "--enable-webhooks";

/** What admission tells. */
export const admissionMetrics = {
  reviews: counter("wave_admission_reviews_total", {
    help: "Admission reviews answered, by what came of them",
    labels: {
      kind: "each kind of workload that is watched, or other",
      operation: ["CREATE", "UPDATE", "other"],
      outcome: {
        hashed: "it got the hash of its configuration",
        kept: "the hash that it had was put back",
        schedulingHeld: "its Pods are kept from being scheduled, because something required is missing",
        notSchedulingHeld: "its scheduling hold was opened",
        waiting: "something required is missing, and it has no scheduling hold",
        current: "nothing had to be changed",
        ignored: "it has not opted in",
        denied: "the precondition that it has itself fails",
        unread:
          "its configuration could not be read, or is more than a review reads: it is let through unchanged, and the controller looks at it",
        unknown: "it is nothing that Wave has to do with",
      },
    },
    only,
  }),
  duration: histogram("wave_admission_duration_seconds", {
    help: "From an admission review's arrival to its answer",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    only,
  }),
  requests: counter("wave_webhook_requests_total", {
    help: "Requests to the webhook by the status of their answer",
    labels: { code: ["200", "400", "404", "405", "411", "413", "415", "other"] },
    only,
  }),
  certificateExpiry: gauge("wave_webhook_certificate_expiration_timestamp_seconds", {
    help: "When the certificate that the webhook serves expires, in seconds since the epoch; 0 before there is one",
    only,
  }),
};
