// What a run reports: Events, metrics and log messages. Decides and writes nothing else.
import { parseWorkloadKey, type Workload, type WorkloadName } from "../../../domain/model/workload.ts";
import type { Clock } from "../../../lib/clock.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import type { Logger } from "../../../telemetry/logging/log.ts";
import { logMessages } from "../../../telemetry/logging/log-messages.ts";
import { changeStart, type RunStart } from "../memory/finish.ts";
import type { ReconcileOutcome } from "../memory/outcome.ts";
import type { RememberedHold } from "../memory/pacing-memory.ts";
import type { RolloutEnd } from "../memory/rollout-end.ts";
import type { ReportedBlockers, WorkloadMemory } from "../memory/workload-memory.ts";
import { stateOfPlan } from "../memory/workload-state.ts";
import type { EventReporter, RolloutEnds } from "./event-reporter.ts";
import type { RolloutMetrics } from "./rollout-metrics.ts";

/** What an {@link OutcomeReport} needs. */
export interface OutcomeReportOptions {
  readonly eventReporter: EventReporter;
  /** Receives the ConfigMaps whose earlier content the Pods of a workload read after its rollout failed. */
  readonly onReturn: (workload: Workload, names: readonly string[]) => void;
  readonly metrics: RolloutMetrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Reports how each run ended, as Events, metrics and log lines. It reads memories and changes none. */
export class OutcomeReport {
  readonly #options: OutcomeReportOptions;
  /** Whether the API server gave no answer since its last successful write. */
  #unavailable = false;

  constructor(options: OutcomeReportOptions) {
    this.#options = options;
  }

  /** Reports a run; `memory` is as it was before the run, and `hold` as it is now. Returns the reported blockers. */
  ended(
    memory: WorkloadMemory,
    start: RunStart,
    outcome: ReconcileOutcome,
    hold: RememberedHold | undefined,
    ends: RolloutEnds,
  ): ReportedBlockers | undefined {
    const { eventReporter, metrics, clock, onReturn } = this.#options;
    switch (outcome.type) {
      case "done": {
        const { workload, plan } = outcome;
        const blockers = eventReporter.done(memory, workload, plan, hold, ends);
        if (ends.end !== undefined) this.#ended(workload, ends.end);
        // A lasting state is counted when it begins.
        if (memory.state !== stateOfPlan(plan)) metrics.count(workload, plan.outcome);
        this.#log("debug", "nothing to write", workload, {
          outcome: plan.outcome,
          ...(plan.outcome === "held" && { hold: plan.hold.reason, held: plan.hold.message }),
          reason: plan.reason,
        });
        return blockers;
      }
      case "written": {
        const { before, plan } = outcome;
        const blockers = eventReporter.written(memory, before, plan);
        if (plan.returned !== undefined) onReturn(before, plan.returned);
        metrics.count(before, plan.outcome);
        const from = changeStart(memory, start);
        if (from !== undefined) metrics.observeDuration(before.kind, clock.monotonic() - from);
        this.#unavailable = false;
        this.#log("info", "patched", before, { outcome: plan.outcome, reason: plan.reason });
        return blockers;
      }
      case "permitPending":
      case "stopped":
      case "gone":
        return memory.blockers;
      case "conflict":
        metrics.count(outcome.workload, "conflict");
        this.#log("debug", "workload changed during the run; retrying", outcome.workload, { outcome: "conflict" });
        return memory.blockers;
      case "refused": {
        const { workload, message } = outcome;
        metrics.count(workload, "refused");
        eventReporter.refused(memory, workload, message);
        const level = memory.logged === "refused" ? "debug" : "warn";
        this.#log(level, logMessages.writeRefused, workload, { outcome: "refused", error: message });
        return memory.blockers;
      }
      case "unavailable": {
        const { workload, message } = outcome;
        metrics.count(workload, "unavailable");
        // One line for all workloads: they fail for the same reason.
        const level = this.#unavailable ? "debug" : "warn";
        this.#log(level, logMessages.writeUnanswered, workload, { outcome: "unavailable", error: message });
        this.#unavailable = true;
        return memory.blockers;
      }
    }
  }

  #ended(workload: Workload, { result, cause, durationMs, why }: RolloutEnd): void {
    const duration = { durationSeconds: `${Math.floor(durationMs / 1_000)}` };
    this.#options.metrics.count(workload, result);
    if (cause === undefined)
      this.#log("info", "rollout complete", workload, { outcome: result, reason: why, ...duration });
    else
      this.#log("warn", logMessages.rolloutFailed, workload, {
        outcome: result,
        reason: why,
        error: cause,
        ...duration,
      });
  }

  /** Reports a run that failed with a bug; `memory` is as it was before the run. */
  failed(key: string, memory: WorkloadMemory, error: unknown): void {
    const stack = error instanceof Error ? error.stack : undefined;
    const level = memory.logged === "bug" ? "debug" : "error";
    // The workload is a field, so that repetitions have the same message.
    const fields = { workload: key, outcome: "bug", error: errorText(error), stack };
    this.#options.log[level](logMessages.planFailed, fields);
    this.#options.metrics.count(parseWorkloadKey(key), "bug");
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
