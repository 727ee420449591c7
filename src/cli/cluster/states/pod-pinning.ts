import type { Lookup } from "../../../domain/config/view-of-references.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { canBePinned, formatConfigMaps, isPinned, neverPinned } from "../../../domain/pinning/pin-request.ts";
import { type Pins, parsePins } from "../../../domain/pinning/pinned-lookup.ts";
import { type PodPins, pinsRead } from "../../../domain/pinning/pod-pins.ts";
import { withRejected } from "../../../domain/pinning/rejections.ts";
import type { Rules } from "../../../domain/policy/rules.ts";
import { configKey } from "../../../domain/references/references.ts";
import type { RunningPod } from "../read/pods.ts";

/** How many Pods of a pinned workload read its pinned copies. */
export interface PodPinning {
  readonly pinned: number;
  readonly partlyPinned: number;
  readonly unpinned: number;
  /** Why Pods read live configuration, one line for each cause. */
  readonly why: readonly string[];
}

/** Returns how the Pods of a workload are pinned; null if its pod template has no valid pins. */
export function podPinning(workload: Workload, pods: readonly RunningPod[]): PodPinning | null {
  const pins = pinsOf(workload.pinned);
  if (pins === undefined) return null;
  const read = pods.map((pod) => ({ pod, ...pinsOfPod(workload, pins, pod) }));
  const unpinned = read.filter(({ state }) => state === "unpinned");
  const partly = read.filter(({ state }) => state === "partly pinned");
  const unmarked = unpinned.filter(({ pod }) => pod.pinned === undefined).length;
  const marked = unpinned.length - unmarked;
  const liveNames = [...new Set(partly.flatMap(({ live }) => live))].sort();
  return {
    pinned: read.length - unpinned.length - partly.length,
    partlyPinned: partly.length,
    unpinned: unpinned.length,
    why: [
      ...(marked === 0 ? [] : [pinningTexts.notPointed(marked)]),
      ...(unmarked === 0 ? [] : [pinningTexts.notAnnotated(unmarked)]),
      ...(partly.length === 0 ? [] : [pinningTexts.partly(partly.length, liveNames)]),
    ],
  };
}

/** Returns why a workload that requests pins has none, as one line; empty if the request is fulfilled, or if there is nothing to pin. */
export function missingPins(workload: Workload, rules: Rules): readonly string[] {
  if (workload.optIn.state !== "in" || !canBePinned(workload)) return [];
  if (!rules.pinConfig.value) return [];
  if (!rules.storesCopies) return [pinningTexts.flagMissing];
  const canPin = workload.references.some(
    ({ kind, namespace, name, annotation }) =>
      kind === "ConfigMap" &&
      namespace === workload.namespace &&
      annotation === undefined &&
      !neverPinned.includes(name),
  );
  return workload.pinned === undefined && canPin ? [pinningTexts.notYet] : [];
}

/** Returns the ConfigMaps whose live content was rolled back, so that new Pods read their pinned copies. */
export function rolledBackConfigMaps(workload: Workload, lookup: Lookup, rules: Rules): ReadonlySet<string> {
  if (workload.rejected === undefined || !isPinned(workload, rules)) return new Set();
  return withRejected(workload, lookup, rules).kept;
}

/**
 * Reports whether a Pod reads what its template stands for. An unpinned Pod reads live configuration, which differs from the template
 * for ConfigMaps that were rolled back: such a Pod must have started before the ConfigMap changed.
 */
export function readsTemplate(workload: Workload, pod: RunningPod, lookup: Lookup, back: ReadonlySet<string>): boolean {
  const pins = pinsOf(workload.pinned);
  if (pins === undefined || back.size === 0) return true;
  const { live } = pinsOfPod(workload, pins, pod);
  return live.every((name) => {
    const { changedAt = 0 } = lookup("ConfigMap", workload.namespace, name) ?? {};
    return !back.has(name) || pod.startedAt < changedAt;
  });
}

/** Returns what a Pod reads: the copies of the template, or of the revision that the Pod was created from. */
function pinsOfPod({ namespace, pinned: text }: Workload, template: Pins, { pinned, files, env }: RunningPod): PodPins {
  // Most Pods have the annotation of the template, and thousands of Pods are not parsed one by one.
  const own = pinned === text ? undefined : pinsOf(pinned);
  const revisions = own === undefined ? [template] : [template, own];
  const sources = revisions.flatMap((pins) => [...pins].flat());
  const names = sources.filter((name) => {
    const key = configKey({ kind: "ConfigMap", namespace, name });
    return files.has(key) || env.has(key);
  });
  return pinsRead(new Set(names), revisions);
}

function pinsOf(text: string | undefined): Pins | undefined {
  return text === undefined ? undefined : parsePins(text);
}

/** The lines about pins, for people. */
export const pinningTexts = {
  notPointed: (count: number) =>
    `${podsAre(count)} unpinned: no policy or webhook pointed ${them(count)} at the pinned copies. With webhooks, Wave replaces ${them(count)}. Otherwise, install the chart with pinConfig.enabled=true, then restart the Pods.`,
  notAnnotated: (count: number) =>
    `${podsAre(count)} unpinned, without annotation wave.pusher.com/pinned. Delete such a Pod: the next one is pinned.`,
  partly: (count: number, names: readonly string[]) =>
    `${podsAre(count)} partly pinned. Live configuration: ${formatConfigMaps(names)}.`,
  heldFiles: (count: number) =>
    `${pods(count)} of the old revision ${count === 1 ? "mounts" : "mount"} live configuration. Mounted files may already show the held change.`,
  heldEnv: (count: number) =>
    `${pods(count)} of the old revision ${count === 1 ? "reads" : "read"} live configuration as environment variables. A container that restarts reads the held change.`,
  notYet: "Not pinned yet. Wave pins the Pods with the next rollout.",
  flagMissing: "Annotation pin-config has no effect: Wave runs without --pin-config.",
  pinToPrevent: `To keep ConfigMaps of old Pods unchanged, set annotation wave.pusher.com/pin-config: "true".`,
} as const;

function pods(count: number): string {
  return count === 1 ? "1 Pod" : `${count} Pods`;
}

function podsAre(count: number): string {
  return `${pods(count)} ${count === 1 ? "is" : "are"}`;
}

function them(count: number): string {
  return count === 1 ? "the Pod" : "the Pods";
}
