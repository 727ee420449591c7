import type { DirectiveContext } from "../compatibility/directives.ts";
import { rolloutStrategy } from "../compatibility/stakater.ts";
import type { Annotations } from "../references/annotations.ts";
import { fieldsOf } from "../syntax/json.ts";
import type { Progress, TemplateSource, WorkloadRow } from "./kind-row.ts";
import type { WorkloadObject } from "./workload-references.ts";

/** Returns the strategy of an object of a kind, given its annotations and the object whose pod template it uses. */
export function strategyOf(
  row: WorkloadRow,
  templateSource: TemplateSource | undefined,
  annotations: Annotations,
  { compatibility }: DirectiveContext,
): RolloutStrategy {
  const canRestart = row.restartAt !== undefined && compatibility?.understood.includes("stakater") === true;
  if (canRestart && annotations[rolloutStrategy] === "restart") return rolloutStrategies.restart;
  return rolloutStrategies[row.strategy ?? (templateSource === undefined ? "template" : "templateSource")];
}

/** The ways in which a workload gets Pods with a new configuration. */
export type RolloutStrategyName = "template" | "templateSource" | "restart" | "run" | "replacement";

/** A permission that a strategy needs in addition to reading and patching workloads. */
interface StrategyPermission {
  /** "resource.group"; undefined: the resource of the workload itself. */
  readonly resource: string | undefined;
  readonly verbs: readonly string[];
}

/** Everything that differs between strategies. Code reads these fields and does not compare names. */
export interface RolloutStrategy {
  readonly name: RolloutStrategyName;
  /** Where the hash of the workload is recorded: in its pod template, or in its own metadata. */
  readonly hashOn: "podTemplate" | "workload";
  /** Whether each Pod has the hash that it was created with, for as long as it exists. */
  readonly podsCarryHash: boolean;
  /** Whether the workload has Pods of its own that a new pod template replaces. */
  readonly hasPods: boolean;
  /** Whether the pod template cannot be changed. Wave then records a first configuration instead of writing a first hash. */
  readonly hasImmutableTemplate: boolean;
  /**
   * Whether Wave can lift a scheduling hold for every Pod that was created with it. A Job keeps its pod template for all of its Pods,
   * and a CronJob with `concurrencyPolicy: Forbid` never runs again while the Pod of one run is pending.
   */
  readonly acceptsSchedulingHold: boolean;
  /**
   * How a rollout is applied. "patch": one patch of the workload. "preApply": an action that creates Pods, and then the patch that
   * records the hash. "recreate": the workload is deleted and created again if the patch changes its pod template.
   */
  readonly apply: "patch" | "preApply" | "recreate";
  /** Whether a rollout sets the time in `WorkloadRow.restartAt`. */
  readonly setsRestartAt: boolean;
  readonly permissions: readonly StrategyPermission[];
  /** What a rollout and the first hash do to Pods, as sentences for people. */
  readonly texts: { readonly rollout: string; readonly firstHash: string };
}

/** What most strategies have in common. */
const usual = {
  hashOn: "podTemplate",
  podsCarryHash: false,
  hasPods: true,
  hasImmutableTemplate: false,
  acceptsSchedulingHold: false,
  apply: "patch",
  setsRestartAt: false,
  permissions: [],
} as const;

/** Every strategy, by name. */
export const rolloutStrategies: Readonly<Record<RolloutStrategyName, RolloutStrategy>> = {
  // The hash is in the pod template of the workload itself.
  template: {
    ...usual,
    name: "template",
    podsCarryHash: true,
    acceptsSchedulingHold: true,
    texts: { rollout: "Kubernetes replaces the Pods.", firstHash: "Kubernetes replaces the Pods once." },
  },
  // The pod template belongs to another object (workloadRef). Its hash may be that of its own workload.
  templateSource: {
    ...usual,
    name: "templateSource",
    hashOn: "workload",
    apply: "preApply",
    texts: {
      rollout: "The controller of the workload replaces the Pods, through the pod template of its workloadRef.",
      firstHash: "No Pod is replaced.",
    },
  },
  // Pods are restarted without a change of the pod template, and keep the hash that they were created with.
  restart: {
    ...usual,
    name: "restart",
    hashOn: "workload",
    acceptsSchedulingHold: true,
    setsRestartAt: true,
    texts: { rollout: "The controller of the workload restarts the Pods.", firstHash: "No Pod is restarted." },
  },
  // The workload runs once in addition to its schedule. The Pods of a run end.
  run: {
    ...usual,
    name: "run",
    hasPods: false,
    apply: "preApply",
    permissions: [{ resource: "jobs.batch", verbs: ["create"] }],
    texts: { rollout: "The job runs once, in addition to its schedule.", firstHash: "Nothing runs." },
  },
  // Another object with the same name replaces the workload.
  replacement: {
    ...usual,
    name: "replacement",
    hasImmutableTemplate: true,
    apply: "recreate",
    permissions: [{ resource: undefined, verbs: ["create", "delete"] }],
    texts: { rollout: "Wave recreates the object with the same name.", firstHash: "Nothing is recreated." },
  },
};

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
