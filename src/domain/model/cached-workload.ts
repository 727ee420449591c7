import { noExclusions, type OptIn, readOptIn } from "../compatibility/directive.ts";
import { type DirectiveContext, peerAnnotationNames } from "../compatibility/directives.ts";
import type { Annotations } from "../references/annotations.ts";
import type { LimitExceeded } from "../references/references.ts";
import { equalJson } from "../syntax/json.ts";
import { maxKeptLength, withShortValues } from "./planned-annotations.ts";
import { hasOldFinalizer } from "./scheduling-hold.ts";
import { fingerprintOf, isDeleting } from "./workload.ts";
import type { WorkloadObject } from "./workload-references.ts";
import type { Workload } from "./workload-shape.ts";

/**
 * Reports whether a workload still matches an object, except for its progress, so that the object need not be parsed again. Does not
 * read the spec. Every edit of the spec, and so of the pod template and its annotations, raises the generation
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions, and
 * https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#metadata);
 * an edit of the status, of labels and, except for Deployments, of annotations does not. The policy of the Namespace may have changed,
 * so the function reads it again.
 */
export function matchesObject(workload: Workload, object: WorkloadObject, context: DirectiveContext = {}): boolean {
  const { metadata } = object;
  // It is compared first: a change of it is frequent, and the rest takes longer.
  if (metadata?.uid === undefined || metadata.generation !== workload.generation) return false;
  const { annotations, generation, uid } = metadata;
  const written = {
    generation,
    uid,
    deleting: isDeleting(metadata),
    oldFinalizer: hasOldFinalizer(metadata),
    hasAnnotations: annotations !== undefined && annotations !== null,
    annotationsFingerprint: fingerprintOf(metadata, peerAnnotationNames(context.compatibility?.understood)),
  };
  return (
    equalOutsideStatus(workload, written) &&
    sameTemplateSource(workload, object) &&
    stillOptedIn(ownOptIn(annotations ?? {}, workload.namespace, context), workload.optIn)
  );
}

/** The fields that a write of the status alone leaves as they are. */
type OutsideStatus = Pick<
  Workload,
  "generation" | "uid" | "deleting" | "oldFinalizer" | "hasAnnotations" | "annotationsFingerprint"
>;

function equalOutsideStatus(workload: Workload, other: OutsideStatus): boolean {
  return (
    // Its patch names a place in `managedFields`, which moves when the status changes.
    workload.disowning === undefined &&
    workload.generation > 0 &&
    other.generation === workload.generation &&
    other.uid === workload.uid &&
    other.deleting === workload.deleting &&
    other.oldFinalizer === workload.oldFinalizer &&
    other.hasAnnotations === workload.hasAnnotations &&
    other.annotationsFingerprint === workload.annotationsFingerprint
  );
}

/** Reports whether two states of a workload differ at most in their status. A cache entry keeps its resourceVersion when only the status changes. */
export function differsInStatusOnly(a: Workload, b: Workload): boolean {
  return equalOutsideStatus(a, b) && equalJson(a.templateSource, b.templateSource);
}

/** Reports whether the pod template of the template source is still the one that was read, as far as the controller has observed. */
function sameTemplateSource({ row, templateSource }: Workload, object: WorkloadObject): boolean {
  if (templateSource === undefined) return true; // A new workloadRef would have raised the generation.
  return (
    templateSource.generation !== undefined &&
    row.workloadRef?.templateSourceOf(object)?.observed === templateSource.observed
  );
}

/** Returns the opt-in by Wave annotations; "out" if Wave does not read them. */
function ownOptIn(
  annotations: Annotations,
  namespace: string,
  { compatibility, namespacePolicyOf }: DirectiveContext,
): OptIn {
  if (compatibility?.understood.includes("wave") === false) return { state: "out" };
  return readOptIn({ annotations, templateAnnotations: {} }, namespace, namespacePolicyOf);
}

/** Reports whether the opt-in is unchanged. The annotations of the workload and of its pod template are unchanged, so their opt-in is too. */
function stillOptedIn(own: OptIn, before: OptIn): boolean {
  if (before.state === "in" && before.by === "workload") return true;
  if (before.state === "in" && before.by === "compatibility") return own.state !== "in";
  return equalJson(own, before);
}

/** Returns a workload with the progress of a matching object; the same workload if the progress is the same. */
export function withProgressOf(workload: Workload, object: WorkloadObject): Workload {
  const progress = workload.row.progress(object, workload.templateSource);
  return equalJson(progress, workload.progress) ? workload : { ...workload, progress };
}

/** Returns what Wave keeps of a workload if its namespace exceeds the limit. `mebibytes` is the size of the cached data of the namespace. */
export function withoutReferences(workload: Workload, limitExceeded: LimitExceeded): Workload {
  const short = (text: string | undefined) => (text !== undefined && text.length > maxKeptLength ? undefined : text);
  return {
    ...workload,
    references: [],
    limitExceeded,
    plannedAnnotations: withShortValues(workload.plannedAnnotations),
    recordedConfig: short(workload.recordedConfig),
    configDigests: short(workload.configDigests),
    recordedClasses: short(workload.recordedClasses),
    schedulerToRestore: short(workload.schedulerToRestore),
    peer: workload.peer && { ...workload.peer, patterns: [], excluded: noExclusions },
    policy: withShortValues(workload.policy),
  };
}

/** Reports whether two states of one workload are equal in everything that Wave reads. */
export function sameWorkload(a: Workload, b: Workload): boolean {
  return equalJson(a, { ...b, resourceVersion: a.resourceVersion });
}
