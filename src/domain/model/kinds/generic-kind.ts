import { fieldsOf, numberOf } from "../../syntax/unknown-fields.ts";
import type { Progress } from "../progress.ts";
import type { WorkloadObject } from "../workload-references.ts";
import type { KnownKind } from "./kind-rules.ts";
import { isObserved, progressByCounts } from "./replica-counts.ts";

/**
 * Returns the rules of a kind that Wave has no special knowledge of. `statusFields` are the fields that the status of its objects may have,
 * if the API server shows them. The progress is computed from the fields that Deployments have too. A kind without any of these fields is
 * complete as soon as its template is written. A controller may omit a number that is 0
 * (https://pkg.go.dev/encoding/json#Marshal, `omitempty`), so a field that is in the definition but not in the status is 0.
 */
export function genericKind(statusFields: ReadonlySet<string> = new Set()): KnownKind {
  return {
    template: "/spec/template",
    shortNames: [],
    keepsPendingPods: false,
    replicaSetLabel: "",
    completeWhen:
      "its status reports a complete rollout in the same way as a Deployment ([fields](../contributing/add-a-kind.md#when-a-rollout-of-another-kind-is-complete))",
    progress: (object) => progressOfAny(object, statusFields),
  };
}

/** The rules of a kind whose status fields the API server does not show. */
export const anyKind: KnownKind = genericKind();

function progressOfAny({ metadata, spec, status }: WorkloadObject, statusFields: ReadonlySet<string>): Progress {
  const statusValues = fieldsOf(status);
  const specFields = fieldsOf(spec);
  if (specFields.paused === true) return { state: "idle" };
  const count = (name: string) => numberOf(statusValues[name]) ?? (statusFields.has(name) ? 0 : undefined);
  const { observedGeneration } = statusValues;
  const showsGeneration = observedGeneration !== undefined || statusFields.has("observedGeneration");
  const observed = !showsGeneration || isObserved(metadata?.generation, observedGeneration);
  const there = numberOf(statusValues.replicas);
  const wanted = numberOf(specFields.replicas) ?? there ?? 1;
  const updated = count("updatedReplicas") ?? (observed ? wanted : 0);
  const available = count("availableReplicas") ?? count("readyReplicas") ?? (observed ? wanted : 0);
  return progressByCounts({ observed, wanted, toUpdate: wanted, updated, available, there });
}
