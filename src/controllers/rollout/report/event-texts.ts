import { describeMissing } from "../../../domain/config/messages.ts";
import { hasSchedulingHold } from "../../../domain/model/scheduling-hold.ts";
import { recordsBeside, type Workload } from "../../../domain/model/workload.ts";
import type { Held, RolloutPlan } from "../../../domain/plan/plan.ts";
import type { ObjectEvent } from "../../../kube/events/event-object.ts";
import type { ReportedPlan } from "../record/outcome.ts";

/** An Event without the object that it is about. */
export type Announcement = Omit<ObjectEvent, "regarding">;

/** What stands against a workload as long as its plan is this one: what is missing, and what was not understood. */
export function standingAnnouncements({ namespace }: Workload, plan: RolloutPlan): readonly Announcement[] {
  const warnings = warningAnnouncements(plan);
  if (plan.outcome !== "waiting") return warnings;
  const missing = describeMissing(plan.missing, namespace);
  const waiting: Announcement =
    plan.schedulingHold === "closed"
      ? {
          type: "Warning",
          reason: "SchedulingDisabled",
          message: `its Pods are not scheduled until there is ${missing}`,
        }
      : { type: "Warning", reason: "ConfigMissing", message: `keeps the Pods that it has until there is ${missing}` };
  return [waiting, ...warnings];
}

/** What is told of a due write that is held; the same text as long as the hold is the same. */
export function heldAnnouncement({ hold, reason }: Held & Pick<RolloutPlan, "reason">): Announcement {
  const type = hold.warning ? "Warning" : "Normal";
  if (hold.reason === "halted") return { type, reason: "RolloutHalted", message: hold.message };
  // To tell what it would do is what it observes for.
  if (hold.reason === "observed") return { type, reason: "RolloutHeld", message: `would be rolled: ${reason}` };
  return { type, reason: "RolloutHeld", message: `is not rolled yet: ${hold.message}` };
}

/** What was not understood. */
export function warningAnnouncements({ warnings }: ReportedPlan): readonly Announcement[] {
  return warnings.map(({ reason, message }) => ({ type: "Warning", reason, message }));
}

/** What is told of a write that succeeded; `waitedFor` is what was missing before, as far as that is known. */
export function writtenAnnouncement(before: Workload, plan: ReportedPlan, waitedFor: string | undefined): Announcement {
  const waited = waitedFor === undefined ? "" : `waited for ${waitedFor}; `;
  if (hasSchedulingHold(before)) return { type: "Normal", reason: "SchedulingEnabled", message: waited + plan.reason };
  if (plan.outcome === "cleanUp") return { type: "Normal", reason: "Resumed", message: plan.reason };
  if (plan.outcome === "roll") {
    return { type: "Normal", reason: "ConfigChanged", message: `rolled out because ${plan.reason}` };
  }
  if (plan.outcome === "recorded") {
    const message = `takes its Pods to see the current configuration, and replaces none: ${plan.reason}`;
    return { type: "Normal", reason: "ConfigRecorded", message };
  }
  const why = waited + plan.reason;
  const message = recordsBeside(before)
    ? `added the hash of its configuration to its annotations: ${why}`
    : `added the hash of its configuration to the pod template: ${why}`;
  return { type: "Normal", reason: "ConfigHashAdded", message };
}

/** What is told of a write that was refused. */
export function refusedAnnouncement(message: string): Announcement {
  return { type: "Warning", reason: "RolloutFailed", message };
}
