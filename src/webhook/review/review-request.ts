// What a request for a review is about, and whether it needs a review at all. Pure.
import { isDeepStrictEqual } from "node:util";
import { hasPrecondition } from "../../domain/admission/mutation.ts";
import type { CompatibilitySettings } from "../../domain/compatibility/directive.ts";
import {
  optInOf,
  peerAnnotationNames,
  peerHashAnnotation,
  readDirectives,
} from "../../domain/compatibility/directives.ts";
import { isOfKind, standardForm, type WorkloadRow } from "../../domain/model/kind-row.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { invalidScheduler } from "../../domain/model/scheduling-hold.ts";
import { compatibilitySourceOf, type WorkloadObject } from "../../domain/model/workload-references.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { annotationPrefix, configHash } from "../../domain/references/annotations.ts";
import type { AdmissionRequest, AdmittedObject } from "../server/review.ts";

/** The kinds of workload that exist in the cluster. Undefined: the built-in ones. */
export type KindsInCluster = (() => readonly WorkloadRow[]) | undefined;

/** Returns the kind of workload of a request; undefined if Wave does not handle it. */
export function rowOf({ kind }: AdmissionRequest, kinds: KindsInCluster): WorkloadRow | undefined {
  const typeMeta = { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind };
  return (kinds?.() ?? builtInKinds).find((row) => isOfKind(typeMeta, row));
}

/** Returns the operation of a request; undefined if it is not one that Wave reviews. */
export function operationOf({ operation }: AdmissionRequest): "CREATE" | "UPDATE" | undefined {
  return operation === "CREATE" || operation === "UPDATE" ? operation : undefined;
}

/** Returns the object as a workload. The API server has checked its types; `admitted` finds other mistakes. */
export function workloadObject(object: AdmittedObject | undefined): WorkloadObject | undefined {
  return object as WorkloadObject | undefined;
}

/**
 * Reports whether a new workload has no opt-in at all. The API server calls Wave for such workloads because no match condition can
 * check the annotations of their Namespaces. They do not count toward the limit of concurrent reviews.
 */
export function isNotOptedIn(
  request: AdmissionRequest,
  { namespacePolicyOf, compatibility, providerClasses }: Policy,
  kinds: KindsInCluster,
): boolean {
  const object = workloadObject(request.object);
  if (object === undefined || request.operation !== "CREATE" || request.subResource !== "") return false;
  const row = rowOf(request, kinds);
  const standard = row && standardIfAny(row, object);
  if (standard === undefined) return false;
  if (
    compatibility !== undefined &&
    optInOf(readDirectives(compatibilitySourceOf(standard), { compatibility, providerClasses })).state === "in"
  )
    return false;
  if (
    Object.keys(annotationsForWave(object, compatibility)).length > 0 ||
    namespacePolicyOf?.(request.namespace)?.optsIn
  )
    return false;
  return standard.spec?.template?.spec?.schedulerName !== invalidScheduler;
}

/**
 * Reports whether an UPDATE needs no reads: the pod template has its hash and no scheduling hold, and neither the template nor an
 * annotation of Wave changes. `planAdmission` never patches such an update.
 */
export function cannotAffectPods(
  row: WorkloadRow,
  object: WorkloadObject,
  oldObject: WorkloadObject,
  compatibility?: CompatibilitySettings,
): boolean {
  const template = standardIfAny(row, object)?.spec?.template;
  const hashes = [configHash, peerHashAnnotation(compatibility?.understood) ?? configHash];
  return (
    hashes.some((name) => template?.metadata?.annotations?.[name] !== undefined) &&
    template?.spec?.schedulerName !== invalidScheduler &&
    !hasPrecondition(object, compatibility) &&
    isDeepStrictEqual(annotationsForWave(object, compatibility), annotationsForWave(oldObject, compatibility)) &&
    isDeepStrictEqual(template, standardIfAny(row, oldObject)?.spec?.template)
  );
}

function annotationsForWave(
  { metadata }: WorkloadObject,
  compatibility: CompatibilitySettings | undefined,
): Readonly<Record<string, string>> {
  const all = Object.entries(metadata?.annotations ?? {});
  const others = peerAnnotationNames(compatibility?.understood);
  return Object.fromEntries(all.filter(([name]) => name.startsWith(annotationPrefix) || others.includes(name)));
}

/** Returns the standard form; undefined if the pod template is malformed. The callers that need it report that. */
function standardIfAny(row: WorkloadRow, object: WorkloadObject): WorkloadObject | undefined {
  try {
    return standardForm(row, object);
  } catch {
    return undefined;
  }
}
