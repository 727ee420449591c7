import { excludesNothing } from "../compatibility/directive.ts";
import type { Asking } from "../compatibility/directives.ts";
import { type OptIn, readOptIn } from "../compatibility/opt-in.ts";
import { foreignNames } from "../compatibility/peer-annotations.ts";
import { noPolicy } from "../policy/policy-annotations.ts";
import { noExtras } from "../references/extra-references.ts";
import { type Annotations, fingerprint } from "../references/wave-annotations.ts";
import { sameJson } from "../syntax/same-json.ts";
import { hasOldFinalizer } from "./old-finalizer.ts";
import { isDeleting, mostKept, type Workload, type WorkloadObject } from "./workload.ts";

/**
 * Whether an object is still the one that a workload was made of, but for its progress, so that it need not be made again:
 * told without a look at its spec. Every edit of the spec, and so of the pod template and its annotations, raises the generation
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions, and
 * https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#metadata);
 * an edit of the status, of labels and, but for Deployments, of annotations does not. What its Namespace says may be
 * another by now.
 */
export function isMadeOf(workload: Workload, object: WorkloadObject, asking: Asking = {}): boolean {
  const { metadata } = object;
  if (metadata?.generation === undefined || metadata.generation === 0) return false;
  const annotations = metadata.annotations;
  return (
    metadata.generation === workload.generation &&
    metadata.uid === workload.uid &&
    isDeleting(metadata) === workload.deleting &&
    hasOldFinalizer(metadata) === workload.oldFinalizer &&
    (annotations !== undefined && annotations !== null) === workload.hasAnnotations &&
    fingerprint(annotations ?? {}, foreignNames(asking.compatibility?.understood)) === workload.annotations &&
    sameTemplateSource(workload, object) &&
    stillOptedIn(ownOptIn(annotations ?? {}, workload.namespace, asking), workload.optIn)
  );
}

/** Whether a pod template that is another object's is still the one that was read, as far as the controller knows. */
function sameTemplateSource({ row, templateSource }: Workload, object: WorkloadObject): boolean {
  if (templateSource === undefined) return true; // else the generation is another one
  return (
    templateSource.generation !== undefined && row.borrowing?.templateSourceOf(object)?.known === templateSource.known
  );
}

/** In Wave's own dialect, where that is understood. */
function ownOptIn(annotations: Annotations, namespace: string, { compatibility, ofNamespace }: Asking): OptIn {
  if (compatibility?.understood.includes("wave") === false) return { state: "out" };
  return readOptIn(annotations, namespace, ofNamespace);
}

/** Where another dialect opted it in, that still does: its annotations are the same. */
function stillOptedIn(own: OptIn, before: OptIn): boolean {
  if (before.state === "in" && before.by === "compatibility") return own.state !== "in";
  return sameJson(own, before);
}

/** A workload with the progress of an object that it is made of; the same workload where that is the same. */
export function withProgressOf(workload: Workload, object: WorkloadObject): Workload {
  const progress = workload.row.progress(object, workload.templateSource);
  return sameJson(progress, workload.progress) ? workload : { ...workload, progress };
}

/** What is kept of a workload for which its namespace, of so many MiB, has no room. */
export function withoutReferences(workload: Workload, mebibytes: number): Workload {
  const short = (text: string | undefined) => (text !== undefined && text.length > mostKept ? undefined : text);
  const policy = Object.entries(workload.policy).filter(([, text]) => short(text) !== undefined);
  return {
    ...workload,
    references: [],
    limitExceeded: { budget: "namespace", count: mebibytes },
    extras: noExtras,
    recordedConfig: short(workload.recordedConfig),
    notedClasses: short(workload.notedClasses),
    disabledScheduler: short(workload.disabledScheduler),
    foreign: workload.foreign && { ...workload.foreign, annotations: {}, patterns: [], excluded: excludesNothing },
    policy: policy.length === 0 ? noPolicy : Object.fromEntries(policy),
  };
}

/** Whether nothing that Wave looks at differs between two states of one workload. */
export function sameWorkload(a: Workload, b: Workload): boolean {
  return sameJson({ ...a, resourceVersion: 0 }, { ...b, resourceVersion: 0 });
}
