import { hash } from "node:crypto";
import { describeMissing } from "../../../domain/config/messages.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import type { RolloutPlan } from "../../../domain/plan/plan.ts";
import { cut, type ObjectEvent } from "../../../kube/events/event-object.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { ReportedPlan } from "../record/outcome.ts";
import type { WorkloadRecord } from "../record/workload-record.ts";
import {
  type Announcement,
  heldAnnouncement,
  refusedAnnouncement,
  standingAnnouncements,
  warningAnnouncements,
  writtenAnnouncement,
} from "./event-texts.ts";

/** Events live for an hour by default (`--event-ttl` of the API server): what still holds is told again before. */
const tellAgainMs = 45 * 60_000;

/** How many bytes of what a workload waits for are kept, to be told when it has waited. */
const longestWaitingFor = 300;

/** What an {@link Announcer} works with. */
export interface EventReporterOptions {
  readonly post: (event: ObjectEvent) => void;
  readonly clock: Clock;
  /** Numbers in [0, 1): those who are told together are not told again together. */
  readonly random: () => number;
}

/**
 * Tells the owners of workloads what they should know, by Events. What stays as it is, such as something missing, is
 * told once, again when it had ceased, and again before its Event expires.
 */
export class EventReporter {
  readonly #options: EventReporterOptions;

  constructor(options: EventReporterOptions) {
    this.#options = options;
  }

  /** A plan that asks for no write. */
  settled(record: WorkloadRecord, workload: Workload, plan: RolloutPlan): void {
    const waitingFor = plan.outcome === "waiting" ? describeMissing(plan.missing, workload.namespace) : undefined;
    const held =
      plan.outcome === "held" && record.hold !== undefined && record.hold.tellAt <= this.#options.clock.monotonic()
        ? [heldAnnouncement(plan)]
        : [];
    this.#stand(record, workload, [...held, ...standingAnnouncements(workload, plan)], waitingFor);
  }

  /** A plan that was written. */
  written(record: WorkloadRecord, before: Workload, plan: ReportedPlan): void {
    this.#tell(before, writtenAnnouncement(before, plan, record.standing?.waitingFor));
    this.#stand(record, before, warningAnnouncements(plan), undefined);
  }

  /** A write that was refused. Told each time, because the time between two tries grows: its Event counts them. */
  refused(record: WorkloadRecord, workload: Workload, message: string): void {
    this.#tell(workload, refusedAnnouncement(message), record.logged === "refused" ? "told" : unlessPlanned(record));
  }

  #stand(
    record: WorkloadRecord,
    workload: Workload,
    announcements: readonly Announcement[],
    waitingFor: string | undefined,
  ): void {
    const { clock, random } = this.#options;
    const now = clock.monotonic();
    const before = record.standing !== undefined && now < record.standing.tellAgainAt ? record.standing : undefined;
    for (const announcement of announcements) {
      const id = identity(workload, announcement);
      if (before?.told.includes(id)) continue;
      this.#tell(workload, announcement, record.standing?.told.includes(id) ? "told" : unlessPlanned(record));
    }
    if (announcements.length === 0) {
      record.standing = undefined;
      return;
    }
    const told = announcements.map((each) => identity(workload, each));
    const tellAgainAt = before?.tellAgainAt ?? now + tellAgainMs * (1 - random() / 10);
    record.standing = { told, waitingFor: waitingFor && cut(waitingFor, longestWaitingFor), tellAgainAt };
  }

  #tell(workload: Workload, announcement: Announcement, repeats?: ObjectEvent["repeats"]): void {
    const { row, namespace, name, uid } = workload;
    const regarding = { apiVersion: row.apiVersion, kind: row.kind, namespace, name, uid };
    this.#options.post({ regarding, ...announcement, ...(repeats && { repeats }) });
  }
}

/** What stands when a workload is planned for the first time in a term may have been told in the one before. */
function unlessPlanned({ state }: WorkloadRecord): ObjectEvent["repeats"] {
  return state === undefined ? "perhaps" : undefined;
}

function identity({ uid }: Workload, { reason, message }: Announcement): string {
  return hash("sha256", `${uid} ${reason} ${message}`, "base64");
}
