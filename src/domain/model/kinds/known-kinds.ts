import { rolloutStrategy } from "../../compatibility/stakater.ts";
import { configHash } from "../../references/annotations.ts";
import { fieldsOf, numberOf, textOf } from "../../syntax/json.ts";
import { isObserved, type Progress, type TemplateSource, type WorkloadKind, type WorkloadRow } from "../kind-row.ts";
import type { WorkloadObject } from "../workload-references.ts";

// domain/model/kinds: the rules of each kind of workload beyond apps/v1. Knows the model only.

/**
 * An Argo Rollout. Its `status.phase` is what `kubectl argo rollouts status` shows
 * (https://argo-rollouts.readthedocs.io/en/stable/features/specification/). The observed generation in its status is a text. A Rollout that
 * waits at a canary step or for promotion is progressing, because not all of its Pods have the new template. It may take as
 * long as its steps define: its controller measures `progressDeadlineSeconds` without pauses and analyses, but not for restarts.
 */
export const argoRollout: KnownKind = {
  template: "/spec/template",
  shortNames: ["ro", "rollout"],
  keepsPendingPods: false,
  replicaSetLabel: "rollouts-pod-template-hash",
  restartAt: "/spec/restartAt",
  workloadRef: {
    // https://argo-rollouts.readthedocs.io/en/stable/migrating/#reference-deployment-from-rollout
    templateSourceOf: (object) => {
      const { metadata, spec, status } = object;
      const { workloadRef } = fieldsOf(spec);
      if (workloadRef === undefined || workloadRef === null) return undefined;
      const { apiVersion, kind, name } = fieldsOf(workloadRef);
      // The hash of the template distinguishes a recreated Deployment with the same name, whose generation starts at 1 again.
      const observed = `${metadata?.annotations?.[workloadGeneration] ?? ""} ${textOf(fieldsOf(status).currentPodHash)}`;
      return {
        apiVersion: shortText(textOf(apiVersion)),
        kind: shortText(textOf(kind)),
        name: shortText(textOf(name)),
        generation: (object as WithSourceTemplate)[sourceGeneration],
        observed: shortText(observed),
      };
    },
    withTemplate: (object, template, generation) => {
      const spec = { ...fieldsOf(object.spec), template };
      return { ...object, spec, [sourceGeneration]: generation } as unknown as WorkloadObject;
    },
  },
  progress: progressOfRollout,
};

/** A symbol instead of a field name, because users who can edit a Rollout could set a field. */
const sourceGeneration = Symbol("generation of the template source");

interface WithSourceTemplate {
  readonly [sourceGeneration]?: number;
}

/** Limit of kept texts, longer than any valid name. A longer text names nothing, and could take up to 1.5 MiB for each Rollout. */
const maxLength = 300;

function shortText(text: string): string {
  // Returns a copy, because a part of a string keeps the whole string in memory.
  return text.length <= maxLength ? text : Buffer.from(text.slice(0, maxLength)).toString();
}

/** Annotation with the generation of the template source that the controller has observed. */
const workloadGeneration = "rollout.argoproj.io/workload-generation";

function progressOfRollout({ metadata, spec, status }: WorkloadObject, templateSource?: TemplateSource): Progress {
  const specFields = fieldsOf(spec);
  const { phase, observedGeneration, ...statusFields } = fieldsOf(status);
  if (specFields.paused === true) return { state: "idle" };
  const available = numberOf(statusFields.availableReplicas) ?? 0;
  const updated = numberOf(statusFields.updatedReplicas) ?? 0;
  const step = 2 * updated + available + 1000 * (numberOf(statusFields.currentStepIndex) ?? 0);
  const { restartAt } = specFields;
  const restarts = metadata?.annotations?.[rolloutStrategy] === "restart" && restartAt !== undefined;
  const isRestarted = !restarts || statusFields.restartedAt === restartAt;
  const hasTemplate =
    templateSource?.generation === undefined ||
    isObserved(templateSource.generation, statusFields.workloadObservedGeneration);
  const isObservedNow = isObserved(metadata?.generation, observedGeneration) && hasTemplate;
  if (isObservedNow && isRestarted) {
    if (phase === "Degraded") return { state: "failed", statusWord: phase };
    if (phase === "Healthy")
      return specFields.replicas === 0 ? { state: "idle" } : { state: "complete", since: undefined };
  }
  return { state: "progressing", step, available, selfTimed: isObservedNow && isRestarted };
}

/** An OpenKruise CloneSet: https://openkruise.io/docs/user-manuals/cloneset. */
const cloneSet: KnownKind = {
  template: "/spec/template",
  shortNames: ["clone", "cloneset"],
  keepsPendingPods: false,
  replicaSetLabel: "",
  inPlaceUpdateMistake: (object) => inPlaceMistake(object, fieldsOf(fieldsOf(object.spec).updateStrategy).type),
  progress: (object) => {
    const { paused, partition } = fieldsOf(fieldsOf(object.spec).updateStrategy);
    return paused === true ? { state: "idle" } : progressOf(object, partition);
  },
};

/** An OpenKruise Advanced StatefulSet: https://openkruise.io/docs/user-manuals/advancedstatefulset. */
const advancedStatefulSet: KnownKind = {
  template: "/spec/template",
  shortNames: ["asts"],
  keepsPendingPods: true,
  replicaSetLabel: "",
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

/**
 * A CronJob. Each scheduled run creates new Pods, which read the current configuration. For a rollout, Wave runs the CronJob once in
 * addition to its schedule.
 */
const cronJob: KnownKind = {
  template: "/spec/jobTemplate/spec/template",
  shortNames: ["cj", "cronjob"],
  keepsPendingPods: false,
  replicaSetLabel: undefined,
  strategy: "run",
  progress: () => ({ state: "idle" }),
};

interface JobStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/**
 * A Job. Its pod template is immutable, so Wave recreates the Job for a rollout
 * (https://kubernetes.io/docs/concepts/workloads/controllers/job/).
 */
const job: KnownKind = {
  template: "/spec/template",
  shortNames: ["job"],
  keepsPendingPods: false,
  replicaSetLabel: undefined,
  strategy: "replacement",
  // Otherwise an edit would recreate every past run of a CronJob, because runs copy the annotations of its template.
  skipsControlled: true,
  progress: (object) => {
    const { status } = object as { readonly status?: JobStatus };
    const hasCondition = (wanted: string) =>
      status?.conditions?.some(({ type, status }) => type === wanted && status === "True");
    if (hasCondition("Failed")) return { state: "failed", statusWord: "Failed" };
    if (hasCondition("Complete")) return { state: "complete", since: undefined };
    return { state: "progressing", step: 0, available: 0 };
  },
};

/** The rules of a kind that Wave knows before it finds the kind in a cluster. */
export interface KnownKind
  extends Omit<
    WorkloadRow,
    "id" | "apiVersion" | "kind" | "plural" | "namespaced" | "isValidated" | "annotationsRaiseGeneration"
  > {}

/** The numbers of Pods that show the progress of a rollout for many kinds. */
interface ReplicaCounts {
  /** Whether the numbers reflect the current spec. */
  readonly observed: boolean;
  /** The desired number of Pods. */
  readonly wanted: number;
  /** The desired number of Pods with the newest template. Lower than `wanted` if a partition keeps old Pods. */
  readonly toUpdate: number;
  readonly updated: number;
  readonly available: number;
  /** The actual number of Pods, if it may be higher than `wanted`. */
  readonly there?: number | undefined;
}

/** Returns the progress of a rollout from the numbers of its Pods. */
export function progressByCounts(counts: ReplicaCounts): Progress {
  const { observed, wanted, toUpdate, updated, available, there = wanted } = counts;
  const isDone = observed && updated >= Math.min(toUpdate, wanted) && available >= wanted && there <= wanted;
  if (!isDone) return { state: "progressing", step: 2 * updated + available - there, available };
  return toUpdate <= 0 || wanted === 0 ? { state: "idle" } : { state: "complete", since: undefined };
}

/** The kinds with special rules, by id. */
export const knownKinds: Readonly<Record<WorkloadKind, KnownKind>> = {
  "rollouts.argoproj.io": argoRollout,
  "clonesets.apps.kruise.io": cloneSet,
  "statefulsets.apps.kruise.io": advancedStatefulSet,
  "cronjobs.batch": cronJob,
  "jobs.batch": job,
};
