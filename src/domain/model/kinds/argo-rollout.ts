import { rolloutStrategy } from "../../compatibility/stakater.ts";
import type { TemplateSource } from "../kind-row.ts";
import type { Progress } from "../progress.ts";
import type { WorkloadObject } from "../workload-references.ts";
import type { KnownKind } from "./known-kind.ts";
import { fieldsOf, isObserved, numberOf, textOf } from "./replica-counts.ts";

/**
 * A Rollout of Argo Rollouts. Its controller says in `status.phase` what `kubectl argo rollouts status` shows
 * (https://argo-rollouts.readthedocs.io/en/stable/features/specification/), and of which generation that is as a text. One that waits
 * at a step of a canary, or for its promotion, is under way: not all of its Pods have the new template. It may take as long as its
 * steps say: its controller counts `progressDeadlineSeconds` without pauses and analyses, but not for restarts.
 */
export const argoRollout: KnownKind = {
  template: "/spec/template",
  shortNames: ["ro", "rollout"],
  leavesHeldPods: false,
  podsBy: "rollouts-pod-template-hash",
  restartAt: "/spec/restartAt",
  borrowing: {
    // https://argo-rollouts.readthedocs.io/en/stable/migrating/#reference-deployment-from-rollout
    templateSourceOf: (object) => {
      const { metadata, spec, status } = object;
      const { workloadRef } = fieldsOf(spec);
      if (workloadRef === undefined || workloadRef === null) return undefined;
      const { apiVersion, kind, name } = fieldsOf(workloadRef);
      // The hash of the template tells one Deployment from another of its name, which begins with generation 1 again.
      const known = `${metadata?.annotations?.[workloadGeneration] ?? ""} ${textOf(fieldsOf(status).currentPodHash)}`;
      return {
        apiVersion: shortText(textOf(apiVersion)),
        kind: shortText(textOf(kind)),
        name: shortText(textOf(name)),
        generation: (object as Lent)[borrowedGeneration],
        known: shortText(known),
      };
    },
    withTemplate: (object, template, generation) => {
      const spec = { ...fieldsOf(object.spec), template };
      return { ...object, spec, [borrowedGeneration]: generation } as unknown as WorkloadObject;
    },
  },
  completeWhen:
    "`status.phase` is Healthy, of this generation; Degraded is failed; Paused, as at a step of a canary, is under way for as long as it lasts",
  progress: progressOfRollout,
};

/** No field of any name: who may write a Rollout could have it there. */
const borrowedGeneration = Symbol("the generation of the object whose pod template this is");

interface Lent {
  readonly [borrowedGeneration]?: number;
}

/** Longer than any name. What is longer names nothing, and would be kept for each Rollout, up to a MiB and a half. */
const longest = 300;

function shortText(text: string): string {
  // A copy: a part of a string keeps the whole of it.
  return text.length <= longest ? text : Buffer.from(text.slice(0, longest)).toString();
}

/** Of the lender, as far as its controller knows. */
const workloadGeneration = "rollout.argoproj.io/workload-generation";

function progressOfRollout({ metadata, spec, status }: WorkloadObject, templateSource?: TemplateSource): Progress {
  const asked = fieldsOf(spec);
  const { phase, observedGeneration, ...told } = fieldsOf(status);
  if (asked.paused === true) return { state: "idle" };
  const available = numberOf(told.availableReplicas) ?? 0;
  const updated = numberOf(told.updatedReplicas) ?? 0;
  const step = 2 * updated + available + 1000 * (numberOf(told.currentStepIndex) ?? 0);
  const { restartAt } = asked;
  const restarts = metadata?.annotations?.[rolloutStrategy] === "restart" && restartAt !== undefined;
  const isRestarted = !restarts || told.restartedAt === restartAt;
  const hasTemplate =
    templateSource?.generation === undefined || isObserved(templateSource.generation, told.workloadObservedGeneration);
  const isObservedNow = isObserved(metadata?.generation, observedGeneration) && hasTemplate;
  if (isObservedNow && isRestarted) {
    if (phase === "Degraded") return { state: "failed", says: phase };
    if (phase === "Healthy") return asked.replicas === 0 ? { state: "idle" } : { state: "complete", since: undefined };
  }
  return { state: "progressing", step, available, selfTimed: isObservedNow && isRestarted };
}
