import type { Clock } from "../lib/clock.ts";
import type { Logger } from "./logging/log.ts";
import type { MetricsRegistry } from "./metrics/metrics.ts";

/** What most parts of a process share. */
export interface ProcessContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Numbers in [0, 1), for the delays of retries. */
  readonly random: () => number;
}
