import type { Repair } from "../../domain/pods/plan-repair.ts";
import { quoted } from "../../domain/syntax/wording.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";

type MixedEvent = Omit<ObjectEvent, "regarding">;

/** The number of mixed Pods, and of all Pods of the workload. */
export interface MixedCount {
  readonly mixed: number;
  readonly total: number;
}

/** Returns the texts of the Events about Pods in a state: state, cause, next step. docs/events.md is made from these tables. */
function textsOf(state: string) {
  return {
    evicting: (pods: string) => `${pods} ${state}. Wave evicts one Pod at a time.`,
    rolling: (pods: string) => `${pods} ${state}. Wave starts a rollout.`,
    held: (pods: string, hold: string) => `${pods} ${state}. Not replaced: ${hold}`,
    reported: (pods: string) =>
      `${pods} ${state}. Delete these Pods, or set annotation wave.pusher.com/mixed to evict.`,
    onDelete: (pods: string) => `${pods} ${state}. The update strategy is OnDelete. Delete these Pods.`,
    paused: (pods: string) => `${pods} ${state}. The workload is paused. Delete these Pods, or resume the workload.`,
    blocked: (pod: string) =>
      `Pod ${pod} ${state}. A PodDisruptionBudget does not allow its eviction. Wave tries again.`,
    evicted: (pod: string) => `Pod ${pod} evicted: it ${state}.`,
  } as const;
}

/** The texts about Pods that started between an edit and its revert. */
export const mixedTexts = {
  ...textsOf("may run configuration that was reverted"),
  remaining: (pods: string) =>
    `${pods} may still run configuration that was reverted, after Wave replaced Pods. Compare the clocks of the nodes. Delete these Pods.`,
} as const;

/** The texts about Pods that read no copy although their template names copies. */
export const unpinnedTexts: MixedTexts = {
  ...textsOf("may read live configuration instead of pinned copies"),
  remaining: (pods: string) =>
    `${pods} may still read live configuration instead of pinned copies, after Wave replaced Pods. Run wave doctor to check the webhook. Delete these Pods.`,
};

/** The texts of one repair. */
export type MixedTexts = typeof mixedTexts;

/** Returns the Event about a repair that starts, or that a person must carry out. */
export function repairEvent(texts: MixedTexts, repair: Repair, count: MixedCount): MixedEvent {
  const pods = podsOf(count);
  switch (repair.action) {
    case "evict":
      return mixed("Normal", texts.evicting(pods));
    case "roll":
      return mixed("Normal", texts.rolling(pods));
    case "report": {
      const reports = { annotation: texts.reported, OnDelete: texts.onDelete, paused: texts.paused };
      return mixed("Warning", reports[repair.because](pods));
    }
  }
}

/** Returns the Event about a repair that a hold prevents. */
export function heldEvent(texts: MixedTexts, count: MixedCount, hold: string): MixedEvent {
  return mixed("Warning", texts.held(podsOf(count), hold));
}

/** Returns the Event about Pods that are still mixed after Wave has replaced Pods. */
export function remainingEvent(texts: MixedTexts, count: MixedCount): MixedEvent {
  return mixed("Warning", texts.remaining(podsOf(count)));
}

/** Returns the Event about a Pod that may not be evicted now. */
export function blockedEvent(texts: MixedTexts, pod: string): MixedEvent {
  return mixed("Warning", texts.blocked(quoted(pod)));
}

/** Returns the Event about an eviction. */
export function evictedEvent(texts: MixedTexts, pod: string): MixedEvent {
  return { type: "Normal", reason: "PodEvicted", message: texts.evicted(quoted(pod)) };
}

function mixed(type: MixedEvent["type"], message: string): MixedEvent {
  return { type, reason: "PodsMixed", message };
}

function podsOf({ mixed, total }: MixedCount): string {
  return `${mixed} of ${total} ${total === 1 ? "Pod" : "Pods"}`;
}
