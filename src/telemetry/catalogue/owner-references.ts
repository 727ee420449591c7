import { counter } from "../metrics/series.ts";

/** Metrics of the controller of owner references. */
export const ownerReferenceMetrics = {
  writes: counter("wave_owner_reference_writes_total", {
    help: "Number of writes of owner references and finalizers, by result. Includes the writes of --migrate-legacy.",
    labels: {
      result: {
        written: "The write succeeded",
        conflict: "Another client wrote the object in the meantime; Wave retries",
        refused:
          "The API server, an admission policy or a webhook rejected the write; Wave retries with growing delays",
        unavailable: "The API server did not respond; Wave retries",
      },
    },
    only: "--owner-references",
  }),
};
