import { parseWorkloadKey, type WorkloadName } from "../../../domain/model/workload.ts";
import type { Clock } from "../../../lib/clock.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import type { Logger } from "../../../telemetry/logging/log.ts";
import type { Outcome } from "../record/outcome.ts";
import { endsByItself } from "../record/pacing-record.ts";
import type { WorkloadRecord } from "../record/workload-record.ts";
import { isHealthy, settledState, type WorkloadState } from "../record/workload-state.ts";
import type { EventReporter } from "./event-reporter.ts";
import type { RolloutMetrics } from "./rollout-metrics.ts";

/** What an {@link OutcomeReport} works with. */
export interface OutcomeReportOptions {
  readonly eventReporter: EventReporter;
  readonly metrics: RolloutMetrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Tells what came of each run: what each outcome means to Events, metrics and log. */
export class OutcomeReport {
  readonly #options: OutcomeReportOptions;
  /** Whether the API server could not answer since it last took a write. */
  #unavailable = false;

  constructor(options: OutcomeReportOptions) {
    this.#options = options;
  }

  /** A run ended; `seenAt` is when the first change was seen that it was for, undefined where none was. */
  ended(record: WorkloadRecord, outcome: Outcome, seenAt: number | undefined): void {
    const { eventReporter, metrics, clock } = this.#options;
    const from = record.rollsSince ?? seenAt;
    record.rollsSince = isUnderWay(record, outcome) ? from : undefined;
    switch (outcome.type) {
      case "settled": {
        const { workload, plan } = outcome;
        eventReporter.settled(record, workload, plan);
        const state = settledState(plan.outcome);
        // What lasts is counted when it begins.
        if (record.state !== state) metrics.count(workload, plan.outcome);
        this.#is(record, state);
        record.logged = undefined;
        this.#log("debug", "planned", workload, { outcome: plan.outcome, reason: plan.reason });
        return;
      }
      case "written": {
        const { before, plan } = outcome;
        eventReporter.written(record, before, plan);
        metrics.count(before, plan.outcome);
        if (from !== undefined) metrics.observeDuration(before.kind, clock.monotonic() - from);
        this.#is(record, "current");
        record.logged = undefined;
        this.#unavailable = false;
        this.#log("info", "patched", before, { outcome: plan.outcome, reason: plan.reason });
        return;
      }
      case "paced":
      case "stopped":
        this.#is(record, "pending");
        return;
      case "gone":
        return;
      case "conflict":
        metrics.count(outcome.workload, "conflict");
        this.#is(record, "pending");
        this.#log("debug", "changed while it was planned, trying again", outcome.workload, { outcome: "conflict" });
        return;
      case "refused": {
        const { workload, message } = outcome;
        metrics.count(workload, "refused");
        eventReporter.refused(record, workload, message);
        this.#is(record, "refused");
        const level = firstTime(record, "refused") ? "warn" : "debug";
        this.#log(level, "cannot patch, trying again later", workload, { outcome: "refused", error: message });
        return;
      }
      case "unavailable": {
        const { workload, message } = outcome;
        metrics.count(workload, "unavailable");
        this.#is(record, "pending");
        // Once for all workloads: they fail of the same.
        const level = this.#unavailable ? "debug" : "warn";
        this.#log(level, "cannot patch, trying again", workload, { outcome: "unavailable", error: message });
        this.#unavailable = true;
        return;
      }
    }
  }

  /** A run failed of a bug. */
  failed(key: string, record: WorkloadRecord, error: unknown): void {
    const stack = error instanceof Error ? error.stack : undefined;
    const level = firstTime(record, "bug") ? "error" : "debug";
    // The workload is a field: what repeats is counted by its message.
    const fields = { workload: key, outcome: "bug", error: errorText(error), stack };
    this.#options.log[level]("bug: cannot plan a workload, trying again later", fields);
    this.#options.metrics.count(parseWorkloadKey(key), "bug");
    this.#is(record, "bug");
  }

  #is(record: WorkloadRecord, state: WorkloadState): void {
    record.state = state;
    record.unhealthySince = isHealthy(state) ? undefined : (record.unhealthySince ?? this.#options.clock.monotonic());
  }

  #log(
    level: "debug" | "info" | "warn",
    message: string,
    { kind, namespace, name }: WorkloadName,
    fields: Readonly<Record<string, string>> = {},
  ): void {
    this.#options.log[level](message, { kind, namespace, name, ...fields });
  }
}

/** Whether the change that a run was for is still on its way by itself: people, and what is missing, may take for ever. */
function isUnderWay({ hold }: WorkloadRecord, { type }: Outcome): boolean {
  if (type === "settled") return hold !== undefined && endsByItself(hold);
  return type !== "written" && type !== "gone";
}

/** Whether this trouble is to be logged: once until the workload succeeds, for its owner decides how often it fails. */
function firstTime(record: WorkloadRecord, what: "refused" | "bug"): boolean {
  const first = record.logged !== what;
  record.logged = what;
  return first;
}
