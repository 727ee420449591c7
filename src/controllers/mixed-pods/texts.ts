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
    rolling: (pods: string) => `${pods} ${state}. Wave starts a rollout.`,
    held: (pods: string, hold: string) => `${pods} ${state}. Not replaced: ${hold}`,
    OnDelete: (pods: string) => `${pods} ${state}. The update strategy is OnDelete. Delete these Pods.`,
    paused: (pods: string) => `${pods} ${state}. The workload is paused. Delete these Pods, or resume the workload.`,
  } as const;
}

/** The texts about Pods that started between an edit and its revert. */
export const mixedTexts = {
  ...textsOf("may run configuration that was reverted"),
  remaining: (pods: string) =>
    `${pods} may still run configuration that was reverted, after a rollout. Compare the clocks of the nodes. Delete these Pods.`,
} as const;

/** The texts about Pods that read no copy although their template names copies. */
export const unpinnedTexts: MixedTexts = {
  ...textsOf("may read live configuration instead of pinned copies"),
  remaining: (pods: string) =>
    `${pods} may still read live configuration instead of pinned copies, after a rollout. Run wave doctor to check the webhook. Delete these Pods.`,
};

/** The texts of one repair. */
export type MixedTexts = typeof mixedTexts;

/** Returns the Event about a rollout that replaces mixed Pods. */
export function rollingEvent(texts: MixedTexts, count: MixedCount): MixedEvent {
  return mixed("Normal", texts.rolling(podsOf(count)));
}

/** Returns the Event about mixed Pods that a person must replace. */
export function keptEvent(texts: MixedTexts, count: MixedCount, by: "OnDelete" | "paused"): MixedEvent {
  return mixed("Warning", texts[by](podsOf(count)));
}

/** Returns the Event about a repair that a hold prevents. */
export function heldEvent(texts: MixedTexts, count: MixedCount, hold: string): MixedEvent {
  return mixed("Warning", texts.held(podsOf(count), hold));
}

/** Returns the Event about Pods that are still mixed after Wave has replaced Pods. */
export function remainingEvent(texts: MixedTexts, count: MixedCount): MixedEvent {
  return mixed("Warning", texts.remaining(podsOf(count)));
}

function mixed(type: MixedEvent["type"], message: string): MixedEvent {
  return { type, reason: "PodsMixed", message };
}

function podsOf({ mixed, total }: MixedCount): string {
  return `${mixed} of ${total} ${total === 1 ? "Pod" : "Pods"}`;
}
