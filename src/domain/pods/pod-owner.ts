import type { ObjectMeta } from "#kubernetes";
import { sapConfigHash } from "../compatibility/directive.ts";
import { isOfKind, type WorkloadRow } from "../model/kind-row.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import type { Workload, WorkloadName } from "../model/workload-shape.ts";
import { configHash, workloadRefHash } from "../references/annotations.ts";
import { fieldsOf, numberOf } from "../syntax/json.ts";

/**
 * Returns the workload that owns a Pod. The name of a ReplicaSet is the name of its Deployment plus the template hash, which its Pods
 * have as a label (https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pod-template-hash-label). So ReplicaSets,
 * ten times as many as Deployments, need not be read.
 */
export function podOwner(
  { namespace = "", labels = {}, ownerReferences = [] }: ObjectMeta,
  kinds: readonly WorkloadRow[],
): WorkloadName | undefined {
  const owner = ownerReferences.find(({ controller }) => controller);
  if (owner === undefined) return undefined;
  const row = kinds.find((each) => each.replicaSetLabel === "" && isOfKind(owner, each));
  if (row !== undefined) return { kind: row.id, namespace, name: owner.name };
  if (owner.kind !== "ReplicaSet") return undefined;
  for (const { id, replicaSetLabel } of kinds) {
    const suffix = `-${(replicaSetLabel && labels[replicaSetLabel]) ?? ""}`;
    if (suffix === "-" || !owner.name.endsWith(suffix)) continue;
    return { kind: id, namespace, name: owner.name.slice(0, -suffix.length) };
  }
  return undefined;
}

/**
 * Returns the Pod selector of a workload in the syntax of `kubectl -l`. Malformed parts, which a custom resource may have, are left out.
 * More Pods match then, and their owner references show which workload owns them.
 */
export function podSelector(selector: unknown): string {
  const { matchLabels, matchExpressions } = fieldsOf(selector);
  const equal = Object.entries(fieldsOf(matchLabels)).filter(([, value]) => typeof value === "string");
  const expressions: readonly unknown[] = Array.isArray(matchExpressions) ? matchExpressions : [];
  return [...equal.map(([key, value]) => `${key}=${value}`), ...expressions.flatMap(requirementOf)].join(",");
}

/** Converts one match expression of apps/v1 (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/label-selector/). */
function requirementOf(expression: unknown): readonly string[] {
  const { key, operator, values } = fieldsOf(expression);
  if (typeof key !== "string") return [];
  const listed = `(${(Array.isArray(values) ? values : []).join(",")})`;
  switch (operator) {
    case "In":
      return [`${key} in ${listed}`];
    case "NotIn":
      return [`${key} notin ${listed}`];
    case "Exists":
      return [key];
    case "DoesNotExist":
      return [`!${key}`];
    default:
      return [];
  }
}

/** Which annotation of a pod template has the hash of a workload. */
export type HashPlace = Pick<Workload, "hashAnnotation" | "templateSource">;

/** The annotations of a Pod or of a stored pod template. */
type PodAnnotations = Readonly<Record<string, unknown>>;

/**
 * Returns the hash of a workload that its Pod or its stored pod template has; undefined if absent. The pod template may also have the hash of
 * another workload: that of a Rollout whose `workloadRef` names this workload, or that of the Deployment that a `workloadRef` names.
 */
export function podHash(
  annotations: PodAnnotations,
  { hashAnnotation, templateSource }: HashPlace,
): string | undefined {
  const names = templateSource === undefined ? [hashAnnotation] : [workloadRefHash, configHash, sapConfigHash];
  return names.map((name) => annotations[name]).find((hash) => typeof hash === "string");
}

/** Returns the annotations that {@link podHash} reads for any workload. */
export function hashAnnotations(annotations: PodAnnotations): PodAnnotations {
  const names = [configHash, workloadRefHash, sapConfigHash].filter((name) => annotations[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, annotations[name]]));
}

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
