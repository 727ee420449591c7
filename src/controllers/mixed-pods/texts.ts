import type { Repair } from "../../domain/pods/plan-repair.ts";
import { quoted } from "../../domain/syntax/wording.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";

type MixedEvent = Omit<ObjectEvent, "regarding">;

/** The number of mixed Pods, and of all Pods of the workload. */
export interface MixedCount {
  readonly mixed: number;
  readonly total: number;
}

/** The texts of the Events about mixed Pods: state, cause, next step. docs/events.md is made from this table. */
export const mixedTexts = {
  evicting: (pods: string) => `${pods} may run configuration that was taken back. Wave evicts one Pod at a time.`,
  rolling: (pods: string) => `${pods} may run configuration that was taken back. Wave starts a rollout.`,
  held: (pods: string, hold: string) => `${pods} may run configuration that was taken back. Not replaced: ${hold}`,
  reported: (pods: string) =>
    `${pods} may run configuration that was taken back. Delete these Pods, or set annotation wave.pusher.com/mixed to evict.`,
  onDelete: (pods: string) =>
    `${pods} may run configuration that was taken back. The update strategy is OnDelete. Delete these Pods.`,
  paused: (pods: string) =>
    `${pods} may run configuration that was taken back. The workload is paused. Delete these Pods, or resume the workload.`,
  remaining: (pods: string) =>
    `${pods} may still run configuration that was taken back, after Wave replaced Pods. Compare the clocks of the nodes. Delete these Pods.`,
  blocked: (pod: string) =>
    `Pod ${pod} may run configuration that was taken back. A PodDisruptionBudget does not allow its eviction. Wave tries again.`,
  evicted: (pod: string) => `Pod ${pod} evicted: it may run configuration that was taken back.`,
} as const;

/** Returns the Event about a repair that starts, or that a person must carry out. */
export function repairEvent(repair: Repair, count: MixedCount): MixedEvent {
  const pods = podsOf(count);
  switch (repair.action) {
    case "evict":
      return mixed("Normal", mixedTexts.evicting(pods));
    case "roll":
      return mixed("Normal", mixedTexts.rolling(pods));
    case "report": {
      const texts = { annotation: mixedTexts.reported, OnDelete: mixedTexts.onDelete, paused: mixedTexts.paused };
      return mixed("Warning", texts[repair.because](pods));
    }
  }
}

/** Returns the Event about a repair that a hold prevents. */
export function heldEvent(count: MixedCount, hold: string): MixedEvent {
  return mixed("Warning", mixedTexts.held(podsOf(count), hold));
}

/** Returns the Event about Pods that are still mixed after Wave has replaced Pods. */
export function remainingEvent(count: MixedCount): MixedEvent {
  return mixed("Warning", mixedTexts.remaining(podsOf(count)));
}

/** Returns the Event about a Pod that may not be evicted now. */
export function blockedEvent(pod: string): MixedEvent {
  return mixed("Warning", mixedTexts.blocked(quoted(pod)));
}

/** Returns the Event about an eviction. */
export function evictedEvent(pod: string): MixedEvent {
  return { type: "Normal", reason: "PodEvicted", message: mixedTexts.evicted(quoted(pod)) };
}

function mixed(type: MixedEvent["type"], message: string): MixedEvent {
  return { type, reason: "PodsMixed", message };
}

function podsOf({ mixed, total }: MixedCount): string {
  return `${mixed} of ${total} ${total === 1 ? "Pod" : "Pods"}`;
}
