import { counter, gauge } from "../metrics/series.ts";

const only = "--pin-config";

/** Metrics of the collector of pinned copies. */
export const pinnedCopyMetrics = {
  copies: gauge("wave_pinned_copies", {
    help: "Number of pinned copies by use, as the current leader last found them in each namespace.",
    labels: {
      use: {
        running: "Pods read the copy, or new Pods would read it",
        old: "Only an old revision uses the copy",
        unused: "Nothing uses the copy",
      },
    },
    only,
  }),
  writes: counter("wave_pinned_copy_writes_total", {
    help: "Number of attempts to mark, unmark, delete or restore a stored pinned copy.",
    labels: {
      write: {
        marked: "Wave marked a copy as unused",
        used: "Wave removed the mark of a copy, or added a workload to its owners",
        deleted: "Wave deleted an unused copy",
        recreated: "Wave stored a copy again that was deleted while in use",
        changed: "Another client changed the copy first; Wave reads everything again",
        refused: "The API server refused the write, for example by an admission policy",
      },
    },
    only,
  }),
};
