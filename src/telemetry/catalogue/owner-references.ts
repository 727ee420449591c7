import { counter } from "../metrics/metric-row.ts";

/** What is told of owner references and finalizers. */
export const ownershipMetrics = {
  writes: counter("wave_owner_reference_writes_total", {
    help: "Writes of owner references and finalizers, with --migrate-legacy too, by what came of them",
    labels: {
      result: {
        written: "it is as it is to be",
        conflict: "somebody else wrote the object meanwhile; it is tried again",
        refused:
          "the API server, or something that it asks, did not let Wave write it; it is tried again, more and more rarely",
        unavailable: "the API server could not answer; it is tried again",
      },
    },
    only: "--owner-references",
  }),
};
