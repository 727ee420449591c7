import type { ObjectMeta } from "#kubernetes";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import type { TemplateWrite, Workload } from "../../domain/model/workload-shape.ts";
import { fieldsOf } from "../../domain/syntax/unknown-fields.ts";

/**
 * Returns the last write of the pod template of a workload that a watch has shown. `object` is what the watch shows now, and `held` the
 * workload before; undefined: it was not known. Each write has an event of its own, so the event that shows another pod template is that of
 * the write (https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes).
 */
export function templateWriteAfter(
  workload: Workload,
  object: { readonly metadata: ObjectMeta; readonly status?: unknown },
  held: Workload | undefined,
): TemplateWrite | undefined {
  if (workload.template === 0) return undefined;
  const { resourceVersion: revision, createdAt, templateEditedAt, rolledAt } = workload;
  if (held?.uid === workload.uid && held.template !== 0)
    return held.template === workload.template
      ? held.templateWrite
      : { revision, at: Math.max(templateEditedAt, rolledAt), isFirst: false };
  // The controllers of these kinds write the status of each new object.
  const isNew = object.metadata.generation === 1 && fieldsOf(object.status).observedGeneration === undefined;
  return isNew && builtInKinds.includes(workload.row) ? { revision, at: createdAt, isFirst: true } : undefined;
}
