import { hash } from "node:crypto";
import { describeMissing } from "../../../domain/config/changes.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import type { RolloutPlan } from "../../../domain/plan/plan.ts";
import { type ObjectEvent, truncateUtf8 } from "../../../kube/events/event-object.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { PlanSummary } from "../memory/outcome.ts";
import type { RememberedHold } from "../memory/pacing-memory.ts";
import type { RolloutEnd } from "../memory/rollout-end.ts";
import type { ReportedBlockers, WorkloadMemory } from "../memory/workload-memory.ts";
import {
  blockerEvents,
  heldEvent,
  refusedEvent,
  rolloutEndEvent,
  type WorkloadEvent,
  warningEvents,
  writtenEvent,
} from "./event-texts.ts";

/** Events expire after an hour by default (`--event-ttl` of the API server): lasting blockers are reported again before. */
const repeatAfterMs = 45 * 60_000;

/** The bytes of the missing objects that are kept, for the Event at the end of the wait. */
const maxWaitingFor = 300;

/** What an {@link EventReporter} needs. */
export interface EventReporterOptions {
  readonly post: (event: ObjectEvent) => void;
  readonly clock: Clock;
  /** Numbers in [0, 1): Events that are written together are not repeated together. */
  readonly random: () => number;
}

/** What is reported about the last rollout of a workload. */
export interface RolloutEnds {
  /** Its end, if that is news. */
  readonly end?: RolloutEnd | undefined;
  readonly failure?: RolloutEnd | undefined;
}

/** The part of a memory that decides whether an Event is news. */
type Reported = Pick<WorkloadMemory, "state" | "logged" | "blockers">;

/**
 * Writes Events for the owners of workloads. A lasting blocker, such as a missing object, is reported once, once more
 * after it had ended, and again before its Event expires.
 */
export class EventReporter {
  readonly #options: EventReporterOptions;

  constructor(options: EventReporterOptions) {
    this.#options = options;
  }

  /**
   * Reports a plan that needs no write, and the end of the last rollout. `failure`: how that rollout failed, as long as it is not complete.
   * Returns the reported blockers.
   */
  done(
    memory: Reported,
    workload: Workload,
    plan: RolloutPlan,
    hold: RememberedHold | undefined,
    { end, failure }: RolloutEnds = {},
  ): ReportedBlockers | undefined {
    if (end !== undefined && end !== failure) this.#post(workload, rolloutEndEvent(workload, end));
    const waitingFor = plan.outcome === "waiting" ? describeMissing(plan.missing, workload.namespace) : undefined;
    const isReported = hold !== undefined && hold.reportAt <= this.#options.clock.monotonic();
    const held = plan.outcome === "held" && isReported ? [heldEvent(workload, plan)] : [];
    const failed = failure === undefined ? [] : [rolloutEndEvent(workload, failure)];
    return this.#reportBlockers(memory, workload, [...held, ...failed, ...blockerEvents(workload, plan)], waitingFor);
  }

  /** Reports a written plan. Returns the reported blockers. */
  written(memory: Reported, before: Workload, plan: PlanSummary): ReportedBlockers | undefined {
    this.#post(before, writtenEvent(before, plan, memory.blockers?.waitingFor));
    return this.#reportBlockers(memory, before, warningEvents(plan), undefined);
  }

  /** Reports a refused write, each time: the retries are less and less often, and the Event has their number. */
  refused(memory: Reported, workload: Workload, message: string): void {
    this.#post(workload, refusedEvent(message), memory.logged === "refused" ? "reported" : repeatsOfFirst(memory));
  }

  #reportBlockers(
    memory: Reported,
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
}

/** Returns "perhaps" before the first run has ended: the leader before may have reported the same. */
function repeatsOfFirst({ state }: Reported): ObjectEvent["repeats"] {
  return state === undefined ? "perhaps" : undefined;
}

function eventId({ uid }: Workload, { reason, message }: WorkloadEvent): string {
  return hash("sha256", `${uid} ${reason} ${message}`, "base64");
}
