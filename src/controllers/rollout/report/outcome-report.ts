// What a run reports: Events, metrics and log messages. Decides and writes nothing else.

import { hash } from "node:crypto";
import { describeMissing } from "../../../domain/config/view-of-references.ts";
import { parseWorkloadKey, type Workload, type WorkloadName } from "../../../domain/model/workload-shape.ts";
import type { RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import { type ObjectEvent, truncateUtf8 } from "../../../kube/events/event-object.ts";
import { errorText, logMessages } from "../../../telemetry/logging/log-messages.ts";
import type { LeaderParts } from "../../leader-context.ts";
import { changeStart, type RunStart } from "../memory/finish.ts";
import { type ReconcileOutcome, type RolloutEnd, stateOfPlan } from "../memory/outcome.ts";
import type { RememberedHold } from "../memory/pacing-memory.ts";
import type { ReportedBlockers, WorkloadMemory } from "../memory/workload-memory.ts";
import {
  blockerEvents,
  heldEvent,
  rolloutEndEvent,
  type WorkloadEvent,
  warningEvents,
  writtenEvent,
} from "./event-texts.ts";
import type { RolloutMetrics } from "./rollout-metrics.ts";

interface OutcomeReportOptions extends LeaderParts<"clock" | "log" | "random" | "post"> {
  /** Receives the ConfigMaps whose earlier content the Pods of a workload read after its rollout failed. */
  readonly onReturn: (workload: Workload, names: readonly string[]) => void;
  readonly metrics: RolloutMetrics;
}

/** Events expire after an hour by default (`--event-ttl` of the API server): lasting blockers are reported again before. */
const repeatAfterMs = 45 * 60_000;

/** The bytes of the missing objects that are kept, for the Event at the end of the wait. */
const maxWaitingFor = 300;

/** What is reported about the last rollout of a workload. */
interface RolloutEnds {
  /** Its end, if that is news. */
  readonly end?: RolloutEnd | undefined;
  /** How it failed, as long as it is not complete. */
  readonly failure?: RolloutEnd | undefined;
}

/**
 * Reports how each run ended, as Events, metrics and log lines. It reads memories and changes none. A lasting blocker, such as a missing object, is
 * reported once, once more after it had ended, and again before its Event expires.
 */
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
    const { metrics, clock, onReturn } = this.#options;
    switch (outcome.type) {
      case "done": {
        const { workload, plan } = outcome;
        const blockers = this.#done(memory, workload, plan, hold, ends);
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
        this.#post(before, writtenEvent(before, plan, memory.blockers?.waitingFor));
        const blockers = this.#reportBlockers(memory, before, warningEvents(plan), undefined);
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
      case "bug":
        return memory.blockers;
      case "conflict":
        metrics.count(outcome.workload, "conflict");
        this.#log("debug", "workload changed during the run; retrying", outcome.workload, { outcome: "conflict" });
        return memory.blockers;
      case "refused": {
        const { workload, message } = outcome;
        metrics.count(workload, "refused");
        // Each time: the retries are less and less often, and the Event has their number.
        const event = { type: "Warning", reason: "RolloutRefused", message } as const;
        this.#post(workload, event, memory.logged === "refused" ? "reported" : repeatsOfFirst(memory));
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

  /** Writes the Events about a plan that needs no write, and about the end of the last rollout. Returns the reported blockers. */
  #done(
    memory: WorkloadMemory,
    workload: Workload,
    plan: RolloutPlan,
    hold: RememberedHold | undefined,
    { end, failure }: RolloutEnds,
  ): ReportedBlockers | undefined {
    if (end !== undefined && end !== failure) this.#post(workload, rolloutEndEvent(workload, end));
    const waitingFor = plan.outcome === "waiting" ? describeMissing(plan.missing, workload.namespace) : undefined;
    const isReported = hold !== undefined && hold.reportAt <= this.#options.clock.monotonic();
    const held = plan.outcome === "held" && isReported ? [heldEvent(workload, plan)] : [];
    const failed = failure === undefined ? [] : [rolloutEndEvent(workload, failure)];
    return this.#reportBlockers(memory, workload, [...held, ...failed, ...blockerEvents(workload, plan)], waitingFor);
  }

  #reportBlockers(
    memory: WorkloadMemory,
    workload: Workload,
    events: readonly WorkloadEvent[],
    waitingFor: string | undefined,
  ): ReportedBlockers | undefined {
    const { clock, random } = this.#options;
    const now = clock.monotonic();
    const current = memory.blockers !== undefined && now < memory.blockers.repeatAt ? memory.blockers : undefined;
    for (const event of events) {
      const id = eventId(workload, event);
      if (current?.eventIds.includes(id)) continue;
      this.#post(
        workload,
        event,
        memory.blockers?.eventIds.includes(id) ? "reported" : (event.repeats ?? repeatsOfFirst(memory)),
      );
    }
    if (events.length === 0) return undefined;
    const eventIds = events.map((each) => eventId(workload, each));
    const repeatAt = current?.repeatAt ?? now + repeatAfterMs * (1 - random() / 10);
    return { eventIds, waitingFor: waitingFor && truncateUtf8(waitingFor, maxWaitingFor), repeatAt };
  }

  #post(workload: Workload, event: WorkloadEvent, repeats?: ObjectEvent["repeats"]): void {
    const { row, namespace, name, uid } = workload;
    const regarding = { apiVersion: row.apiVersion, kind: row.kind, namespace, name, uid };
    this.#options.post({ regarding, ...event, ...(repeats && { repeats }) });
  }

  #ended(workload: Workload, { result, cause, durationMs, why }: RolloutEnd): void {
    const ended = { outcome: result, reason: why };
    const duration = { durationSeconds: `${Math.floor(durationMs / 1_000)}` };
    this.#options.metrics.count(workload, result);
    if (cause === undefined) this.#log("info", "rollout complete", workload, { ...ended, ...duration });
    else this.#log("warn", logMessages.rolloutFailed, workload, { ...ended, error: cause, ...duration });
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

/** Returns "perhaps" before the first run has ended: the leader before may have reported the same. */
function repeatsOfFirst({ state }: WorkloadMemory): ObjectEvent["repeats"] {
  return state === undefined ? "perhaps" : undefined;
}

function eventId({ uid }: Workload, { reason, message }: WorkloadEvent): string {
  return hash("sha256", `${uid} ${reason} ${message}`, "base64");
}
