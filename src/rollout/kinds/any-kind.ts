import type { Progress } from "../pacing/progress.ts";
import type { WorkloadObject } from "../workload-references.ts";
import { fieldsOf, isObserved, numberOf, progressByCounts } from "./counted.ts";
import type { KnownKind } from "./known-kind.ts";

/**
 * Any kind of which nothing more is known than where its pod template is. Its progress is told by those fields of Deployments
 * that it has too; one that has none of them is complete as soon as its template is written.
 */
export const anyKind: KnownKind = {
  template: "/spec/template",
  shortNames: [],
  leavesHeldPods: false,
  podsBy: "",
  completeWhen:
    "`status.observedGeneration` is the generation, and `updatedReplicas` and `availableReplicas` (else `readyReplicas`) are `spec.replicas`, as far as there are such fields",
  progress: progressOfAny,
};

function progressOfAny({ metadata, spec, status }: WorkloadObject): Progress {
  const told = fieldsOf(status);
  const asked = fieldsOf(spec);
  if (asked.paused === true) return { state: "idle" };
  const observed = told.observedGeneration === undefined || isObserved(metadata?.generation, told.observedGeneration);
  const wanted = numberOf(asked.replicas) ?? numberOf(told.replicas) ?? 1;
  const updated = numberOf(told.updatedReplicas) ?? (observed ? wanted : 0);
  const available = numberOf(told.availableReplicas) ?? numberOf(told.readyReplicas) ?? (observed ? wanted : 0);
  return progressByCounts({ observed, wanted, toUpdate: wanted, updated, available });
}
