import { changedUserAnnotations, isUndone } from "../../../domain/model/undo-request.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import type { Annotations } from "../../../domain/references/annotations.ts";

/** The annotations that a workload had when it was last seen. */
export interface SeenAnnotations {
  readonly uid: string;
  readonly values: Annotations;
  /** The names of those that `kubectl rollout undo` changed, until anyone changes annotations again. */
  readonly changedByUndo: readonly string[];
}

/** Most workloads share this list. */
const none: readonly string[] = [];

/** Returns the annotations to remember of a workload. A process that did not see the workload before the undo recognizes none. */
export function seenAnnotations(seen: SeenAnnotations | undefined, workload: Workload): SeenAnnotations {
  const { uid } = workload;
  const { values } = workload.annotationReads;
  if (seen === undefined || seen.uid !== uid) return { uid, values, changedByUndo: none };
  if (seen.values === values) return seen;
  const changed = changedUserAnnotations(seen.values, values);
  if (changed.length === 0) return { uid, values, changedByUndo: seen.changedByUndo };
  return { uid, values, changedByUndo: isUndone(workload) ? changed : none };
}
