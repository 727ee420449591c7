import { fieldsOf } from "../syntax/json.ts";
import type { Progress } from "./kind-row.ts";
import type { WorkloadObject } from "./workload-references.ts";

/** Why Kubernetes keeps Pods of an old pod template. */
export interface KeptPods {
  readonly by: "paused" | "OnDelete" | "suspended" | "partition" | "scaledToZero";
  /** One sentence without a full stop. */
  readonly setting: string;
  /** One sentence without a full stop: when Kubernetes replaces the Pods. */
  readonly effect: string;
}

/** Shared values, because a workload keeps one. */
const kept = {
  paused: {
    by: "paused",
    setting: "The workload is paused",
    effect: "Kubernetes replaces the Pods after it is resumed",
  },
  OnDelete: {
    by: "OnDelete",
    setting: "The update strategy is OnDelete",
    effect: "Kubernetes replaces a Pod after you delete it",
  },
  suspended: {
    by: "suspended",
    setting: "The workload is suspended",
    effect: "Kubernetes creates Pods after it is resumed",
  },
  scaledToZero: {
    by: "scaledToZero",
    setting: "The workload is scaled to zero",
    effect: "There are no Pods to replace",
  },
} as const satisfies Readonly<Record<string, KeptPods>>;

/** Returns both sentences about kept Pods; "" if there are none. */
export function describeKeptPods(keptPods: KeptPods | undefined): string {
  return keptPods === undefined ? "" : `${keptPods.setting}. ${keptPods.effect}.`;
}

/** Reports whether a rollout replaces no Pod at all. A partition may keep only some. */
export function keepsAllPods({
  keptPods,
  progress,
}: {
  readonly keptPods: KeptPods | undefined;
  readonly progress: Progress;
}): boolean {
  return keptPods !== undefined && (keptPods.by !== "partition" || progress.state === "idle");
}

/** Returns the setting with which Kubernetes keeps Pods after a change of the pod template; undefined if it replaces all of them. */
export function keptPodsOf({ spec }: Pick<WorkloadObject, "spec">): KeptPods | undefined {
  const { paused, suspend, replicas, updateStrategy } = fieldsOf(spec);
  const strategy = fieldsOf(updateStrategy);
  // A CloneSet has these fields one level higher.
  const update = { ...strategy, ...fieldsOf(strategy.rollingUpdate) };
  if (paused === true || update.paused === true) return kept.paused;
  if (strategy.type === "OnDelete") return kept.OnDelete;
  if (suspend === true) return kept.suspended;
  if (replicas === 0) return kept.scaledToZero;
  const { partition = 0 } = update;
  if ((typeof partition !== "number" && typeof partition !== "string") || partition === 0 || partition === "0%")
    return undefined;
  return {
    by: "partition",
    setting: `The partition is ${String(partition).slice(0, 20)}`,
    effect: "Kubernetes does not replace Pods with a lower ordinal",
  };
}
