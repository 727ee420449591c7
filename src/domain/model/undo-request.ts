import type { ObjectMeta } from "#kubernetes";
import { workloadNames } from "../policy/annotation-mistakes.ts";
import { type Annotations, annotationPrefix } from "../references/annotations.ts";
import { kubectlUndoManager } from "../references/field-managers.ts";
import type { Warning } from "../references/warning.ts";
import { formatList, quoted } from "../syntax/names.ts";
import type { WorkloadObject } from "./workload-references.ts";
import type { Workload } from "./workload-shape.ts";

/**
 * Reports whether `kubectl rollout undo` of a Deployment made a request. This command writes as field manager `kubectl`; edit, apply, set,
 * patch, replace and annotate have names of their own, such as `kubectl-edit`. The command replaces the annotations of the Deployment by those
 * of the old ReplicaSet
 * (https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/kubectl/pkg/polymorphichelpers/rollback.go).
 */
export function isKubectlUndo({ kind, metadata }: WorkloadObject, before: WorkloadObject): boolean {
  const time = writtenByKubectl(metadata);
  return kind === "Deployment" && time !== undefined && time !== writtenByKubectl(before.metadata);
}

function writtenByKubectl(metadata: ObjectMeta | undefined): string | undefined {
  return metadata?.managedFields?.find(
    ({ manager, operation, subresource }) => manager === kubectlUndoManager && operation === "Update" && !subresource,
  )?.time;
}

/** Reports whether `kubectl rollout undo` was the last client to change a workload, as far as its field managers show. */
export function isUndone({ row, editedBy }: Pick<Workload, "row" | "editedBy">): boolean {
  return row.id === "Deployment" && editedBy === kubectlUndoManager;
}

/** Returns the names without prefix of the annotations of users that differ, sorted. */
export function changedUserAnnotations(before: Annotations, after: Annotations): readonly string[] {
  return workloadNames.filter((name) => before[annotationPrefix + name] !== after[annotationPrefix + name]).sort();
}

/** Limit of the names in a text. */
const shownNames = 5;

/** The texts about annotations that an undo changes. */
export const undoTexts = {
  kept: (names: readonly string[]) =>
    `Kept Wave annotations as before the rollback: ${formatList(names, shownNames, quoted)}. To change them, use a separate request.`,
  lost: (names: readonly string[]) =>
    `Wave annotations changed by kubectl rollout undo: ${formatList(names, shownNames, quoted)}. Set them again, or set them on the Namespace.`,
} as const;

/** Returns the warning of the webhook about annotations that it keeps. */
export function keptAnnotations(names: readonly string[]): readonly Warning[] {
  return names.length === 0 ? [] : [{ reason: "AnnotationsKept", message: undoTexts.kept(names) }];
}

/** Returns the warning of the controller about annotations that an undo changed. */
export function lostAnnotations(names: readonly string[]): readonly Warning[] {
  return names.length === 0 ? [] : [{ reason: "AnnotationsLost", message: undoTexts.lost(names) }];
}
