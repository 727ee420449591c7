import type { WorkloadObject } from "../model/workload-references.ts";
import { fieldsOf, numberOf } from "../syntax/json.ts";

/**
 * Returns the number of Pods that a workload requests: `desiredNumberScheduled` of a DaemonSet, otherwise `replicas`. Returns 1 if
 * `replicas` is null, as the API does (https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#replicas). Returns 0 if
 * the kind has no such field, such as a CronJob.
 */
export function desiredPods({ spec, status }: Pick<WorkloadObject, "spec" | "status">): number {
  const [specFields, statusFields] = [fieldsOf(spec), fieldsOf(status)];
  return (
    numberOf(statusFields.desiredNumberScheduled) ??
    ("replicas" in specFields ? (numberOf(specFields.replicas) ?? 1) : 0)
  );
}
