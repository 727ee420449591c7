import type { ObjectEvent } from "../kube/event-recorder.ts";
import { describeMissing } from "../rollout/messages.ts";
import type { RolloutPlan } from "../rollout/plan.ts";
import { type Workload, workloadKey } from "../rollout/workload.ts";
import { type Announcement, refusedAnnouncement, standingAnnouncements, writtenAnnouncement } from "./announcements.ts";

/** What was said of one workload and still holds. */
interface Said {
  readonly standing: ReadonlySet<string>;
  readonly waitingFor: string | undefined;
}

/**
 * Tells the owners of workloads what they should know, by Events. What stays as it is, such as something missing, is
 * told once, and again only after it had ceased. Remembers only workloads of which something holds.
 */
export class Announcer {
  readonly #post: (event: ObjectEvent) => void;
  readonly #said = new Map<string, Said>();

  constructor(post: (event: ObjectEvent) => void) {
    this.#post = post;
  }

  /** A plan that asks for no write. */
  settled(workload: Workload, plan: RolloutPlan): void {
    const waitingFor = plan.outcome === "waiting" ? describeMissing(plan.missing, workload.namespace) : undefined;
    this.#stand(workload, plan, waitingFor);
  }

  /** A plan that was written. */
  written(before: Workload, plan: RolloutPlan): void {
    const waitedFor = this.#said.get(workloadKey(before))?.waitingFor;
    this.#tell(before, writtenAnnouncement(before, plan, waitedFor));
    this.#stand(before, plan, undefined);
  }

  /** A write that was refused. Told each time: the recorder counts, and Events expire while the trouble goes on. */
  refused(workload: Workload, message: string): void {
    this.#tell(workload, refusedAnnouncement(message));
  }

  /** The workload is gone. */
  forget(key: string): void {
    this.#said.delete(key);
  }

  #stand(workload: Workload, plan: RolloutPlan, waitingFor: string | undefined): void {
    const key = workloadKey(workload);
    const announcements = standingAnnouncements(workload, plan);
    const before = this.#said.get(key)?.standing;
    for (const announcement of announcements) {
      if (!before?.has(identity(workload, announcement))) this.#tell(workload, announcement);
    }
    if (announcements.length === 0) this.#said.delete(key);
    else this.#said.set(key, { standing: new Set(announcements.map((each) => identity(workload, each))), waitingFor });
  }

  #tell({ kind, namespace, name, uid }: Workload, announcement: Announcement): void {
    this.#post({ regarding: { apiVersion: "apps/v1", kind, namespace, name, uid }, ...announcement });
  }
}

/** A workload that was made anew under the same name has heard nothing yet. */
function identity({ uid }: Workload, { reason, message }: Announcement): string {
  return `${uid} ${reason} ${message}`;
}
