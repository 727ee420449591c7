import type { Progress } from "../progress.ts";
import type { WorkloadObject } from "../workload-references.ts";
import type { KnownKind } from "./known-kind.ts";
import { fieldsOf, isObserved, numberOf, progressByCounts } from "./replica-counts.ts";

/**
 * Any kind of which nothing more is known than where its pod template is, and which fields the status of its objects may have, where the
 * API server tells. Its progress is told by those fields of Deployments that it has too; one that has none of them is complete as
 * soon as its template is written. A controller may leave out a number that is 0
 * (https://pkg.go.dev/encoding/json#Marshal, `omitempty`), so one that its definition has and its status has not is 0.
 */
export function kindOf(statusFields: ReadonlySet<string> = new Set()): KnownKind {
  return {
    template: "/spec/template",
    shortNames: [],
    leavesHeldPods: false,
    podsBy: "",
    completeWhen:
      "`status.observedGeneration` is the generation, `updatedReplicas` and `availableReplicas` (else `readyReplicas`) are `spec.replicas`, and `replicas` are no more, as far as its definition or its status has such fields; what the definition has and the status has not is 0",
    progress: (object) => progressOfAny(object, statusFields),
  };
}

/** One of which the API server does not tell what its status may have. */
export const anyKind: KnownKind = kindOf();

function progressOfAny({ metadata, spec, status }: WorkloadObject, statusFields: ReadonlySet<string>): Progress {
  const told = fieldsOf(status);
  const asked = fieldsOf(spec);
  if (asked.paused === true) return { state: "idle" };
  const count = (name: string) => numberOf(told[name]) ?? (statusFields.has(name) ? 0 : undefined);
  const { observedGeneration } = told;
  const tellsGeneration = observedGeneration !== undefined || statusFields.has("observedGeneration");
  const observed = !tellsGeneration || isObserved(metadata?.generation, observedGeneration);
  const there = numberOf(told.replicas);
  const wanted = numberOf(asked.replicas) ?? there ?? 1;
  const updated = count("updatedReplicas") ?? (observed ? wanted : 0);
  const available = count("availableReplicas") ?? count("readyReplicas") ?? (observed ? wanted : 0);
  return progressByCounts({ observed, wanted, toUpdate: wanted, updated, available, there });
}
