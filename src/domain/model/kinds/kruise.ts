import { configHash } from "../../references/annotations.ts";
import type { Progress } from "../progress.ts";
import type { WorkloadObject } from "../workload-references.ts";
import type { KnownKind } from "./known-kind.ts";
import { fieldsOf, isObserved, numberOf, progressByCounts } from "./replica-counts.ts";

/** A CloneSet of OpenKruise: https://openkruise.io/docs/user-manuals/cloneset. */
export const cloneSet: KnownKind = {
  template: "/spec/template",
  shortNames: ["clone", "cloneset"],
  leavesHeldPods: false,
  podsBy: "",
  completeWhen:
    "of this generation, all Pods but those of `updateStrategy.partition` (a number or a percentage, which is rounded up, but not to all) are updated, all are available, and there are no more of them",
  keepsContainers: (object) => keptInPlace(object, fieldsOf(fieldsOf(object.spec).updateStrategy).type),
  progress: (object) => {
    const { paused, partition } = fieldsOf(fieldsOf(object.spec).updateStrategy);
    return paused === true ? { state: "idle" } : progressOf(object, partition);
  },
};

/** An Advanced StatefulSet of OpenKruise: https://openkruise.io/docs/user-manuals/advancedstatefulset. */
export const advancedStatefulSet: KnownKind = {
  template: "/spec/template",
  shortNames: ["asts"],
  leavesHeldPods: true,
  podsBy: "",
  completeWhen:
    "as of a CloneSet, with `updateStrategy.rollingUpdate.partition`; with OnDelete no Pod is replaced at all",
  keepsContainers: (object) => {
    const { rollingUpdate } = fieldsOf(fieldsOf(object.spec).updateStrategy);
    return keptInPlace(object, fieldsOf(rollingUpdate).podUpdatePolicy);
  },
  progress: (object) => {
    const { type, rollingUpdate } = fieldsOf(fieldsOf(object.spec).updateStrategy);
    const { paused, partition } = fieldsOf(rollingUpdate);
    if (type === "OnDelete" || paused === true) return { state: "idle" };
    return progressOf(object, partition);
  },
};

function progressOf({ metadata, spec, status }: WorkloadObject, partition: unknown): Progress {
  const told = fieldsOf(status);
  const wanted = numberOf(fieldsOf(spec).replicas) ?? 1;
  return progressByCounts({
    observed: isObserved(metadata?.generation, told.observedGeneration),
    wanted,
    toUpdate: wanted - keptBy(partition, wanted),
    updated: numberOf(told.updatedReplicas) ?? 0,
    available: numberOf(told.availableReplicas) ?? numberOf(told.readyReplicas) ?? 0,
    // Those of before count as available, too, until what maxSurge made is taken away again.
    there: numberOf(told.replicas),
  });
}

/**
 * How many Pods a partition leaves as they are: a percentage is rounded up, but less than 100% leaves one to be updated
 * (https://openkruise.io/docs/user-manuals/cloneset#partition, and `expectedUpdatedReplicas` of a CloneSet's status).
 */
function keptBy(partition: unknown, replicas: number): number {
  const [, percent] = /^(\d{1,3}(?:\.\d+)?)%$/.exec(typeof partition === "string" ? partition : "") ?? [];
  if (percent === undefined) return Math.max(0, numberOf(partition) ?? 0);
  const kept = Math.ceil((Number(percent) * replicas) / 100);
  return kept >= replicas && partition !== "100%" && replicas > 1 ? replicas - 1 : kept;
}

/**
 * An update in place changes the annotations of running Pods and restarts no container, but those whose environment has one of the
 * annotations that changed (https://openkruise.io/docs/core-concepts/inplace-update).
 */
function keptInPlace({ spec }: WorkloadObject, policy: unknown): string | undefined {
  if (policy !== "InPlaceIfPossible" && policy !== "InPlaceOnly") return undefined;
  const { containers = [], initContainers = [] } = spec?.template?.spec ?? {};
  const sources = [...containers, ...initContainers].flatMap(({ env }) => env ?? []);
  if (sources.some(({ valueFrom }) => valueFrom?.fieldRef?.fieldPath === hashPath)) return undefined;
  return `with ${policy} no container reads its configuration anew: use ReCreate, or read ${hashPath} into the environment by a fieldRef`;
}

const hashPath = `metadata.annotations['${configHash}']`;
