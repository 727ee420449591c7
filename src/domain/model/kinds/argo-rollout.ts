import { rolloutStrategy } from "../../compatibility/stakater.ts";
import { fieldsOf, numberOf, textOf } from "../../syntax/unknown-fields.ts";
import type { TemplateSource } from "../kind-row.ts";
import type { Progress } from "../progress.ts";
import type { WorkloadObject } from "../workload-references.ts";
import { isObserved, type KnownKind } from "./kind-rules.ts";

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
  completeWhen:
    "`status.phase` is Healthy for the current generation. Degraded means failed. Paused, for example at a canary step, means progressing until the pause ends.",
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
