import { configHash } from "../../references/annotations.ts";
import { fieldsOf, numberOf } from "../../syntax/unknown-fields.ts";
import type { Progress } from "../progress.ts";
import type { WorkloadObject } from "../workload-references.ts";
import { isObserved, type KnownKind, progressByCounts } from "./kind-rules.ts";

/** An OpenKruise CloneSet: https://openkruise.io/docs/user-manuals/cloneset. */
export const cloneSet: KnownKind = {
  template: "/spec/template",
  shortNames: ["clone", "cloneset"],
  keepsPendingPods: false,
  replicaSetLabel: "",
  completeWhen:
    "for the current generation, all Pods are updated except those of `updateStrategy.partition`, all Pods are available, and there are no extra Pods. The partition is a number or a percentage. A percentage is rounded up, but not to all Pods.",
  inPlaceUpdateMistake: (object) => inPlaceMistake(object, fieldsOf(fieldsOf(object.spec).updateStrategy).type),
  progress: (object) => {
    const { paused, partition } = fieldsOf(fieldsOf(object.spec).updateStrategy);
    return paused === true ? { state: "idle" } : progressOf(object, partition);
  },
};

/** An OpenKruise Advanced StatefulSet: https://openkruise.io/docs/user-manuals/advancedstatefulset. */
export const advancedStatefulSet: KnownKind = {
  template: "/spec/template",
  shortNames: ["asts"],
  keepsPendingPods: true,
  replicaSetLabel: "",
  completeWhen:
    "the same as for a CloneSet, with `updateStrategy.rollingUpdate.partition`. With OnDelete, no Pod is replaced.",
  inPlaceUpdateMistake: (object) => {
    const { rollingUpdate } = fieldsOf(fieldsOf(object.spec).updateStrategy);
    return inPlaceMistake(object, fieldsOf(rollingUpdate).podUpdatePolicy);
  },
  progress: (object) => {
    const { type, rollingUpdate } = fieldsOf(fieldsOf(object.spec).updateStrategy);
    const { paused, partition } = fieldsOf(rollingUpdate);
    if (type === "OnDelete" || paused === true) return { state: "idle" };
    return progressOf(object, partition);
  },
};

function progressOf({ metadata, spec, status }: WorkloadObject, partition: unknown): Progress {
  const statusFields = fieldsOf(status);
  const wanted = numberOf(fieldsOf(spec).replicas) ?? 1;
  return progressByCounts({
    observed: isObserved(metadata?.generation, statusFields.observedGeneration),
    wanted,
    toUpdate: wanted - keptBy(partition, wanted),
    updated: numberOf(statusFields.updatedReplicas) ?? 0,
    available: numberOf(statusFields.availableReplicas) ?? numberOf(statusFields.readyReplicas) ?? 0,
    // Old Pods are also available until the extra Pods of maxSurge are deleted.
    there: numberOf(statusFields.replicas),
  });
}

/**
 * Returns how many Pods a partition does not update. A percentage is rounded up, but below 100% at least one Pod is updated
 * (https://openkruise.io/docs/user-manuals/cloneset#partition, and `expectedUpdatedReplicas` of a CloneSet's status).
 */
function keptBy(partition: unknown, replicas: number): number {
  const [, percent] = /^(\d{1,3}(?:\.\d+)?)%$/.exec(typeof partition === "string" ? partition : "") ?? [];
  if (percent === undefined) return Math.max(0, numberOf(partition) ?? 0);
  const kept = Math.ceil((Number(percent) * replicas) / 100);
  return kept >= replicas && partition !== "100%" && replicas > 1 ? replicas - 1 : kept;
}

/**
 * Returns why an update in place makes no container read new configuration; undefined if it does. An update in place changes the
 * annotations of running Pods. It restarts only containers whose environment has one of the changed annotations
 * (https://openkruise.io/docs/core-concepts/inplace-update).
 */
function inPlaceMistake({ spec }: WorkloadObject, policy: unknown): string | undefined {
  if (policy !== "InPlaceIfPossible" && policy !== "InPlaceOnly") return undefined;
  const { containers = [], initContainers = [] } = spec?.template?.spec ?? {};
  const sources = [...containers, ...initContainers].flatMap(({ env }) => env ?? []);
  if (sources.some(({ valueFrom }) => valueFrom?.fieldRef?.fieldPath === hashPath)) return undefined;
  return `Update policy ${policy} restarts no container, so Pods keep the old configuration. Use ReCreate, or add ${hashPath} to the environment with a fieldRef.`;
}

const hashPath = `metadata.annotations['${configHash}']`;
