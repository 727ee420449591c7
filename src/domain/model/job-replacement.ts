import { type JsonPatch, pointerSegments } from "../syntax/json-patch.ts";

/** A Job in the form that the API server sends, with the fields that a replacement needs. */
export interface JobObject {
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly finalizers?: readonly string[];
    readonly [field: string]: unknown;
  };
  readonly spec?: object;
}

/** The labels that the API server generates for each Job and its Pods. */
const generatedLabels = [
  "controller-uid",
  "job-name",
  "batch.kubernetes.io/controller-uid",
  "batch.kubernetes.io/job-name",
];

/**
 * Returns a Job that replaces `object`, with a patch applied. The patch itself is impossible, because pod templates of Jobs are
 * immutable. The result does not have the fields that the API server and the Job controller generate
 * (https://github.com/kubernetes/kubernetes/blob/master/pkg/registry/batch/job/strategy.go, generateSelector).
 */
export function jobReplacement(object: JobObject, patch: JsonPatch): object {
  const changed = structuredClone({ apiVersion: "batch/v1", kind: "Job", ...object }) as Fields;
  for (const operation of patch) if (operation.op !== "test") applyOperation(changed, operation);
  const { metadata, spec } = changed as unknown as { readonly metadata: Fields; readonly spec: Fields | undefined };
  const podMetadata = fieldsOf(fieldsOf(spec?.template)?.metadata);
  for (const field of ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"]) {
    delete metadata[field];
  }
  delete changed.status;
  if (spec !== undefined && spec.manualSelector !== true) {
    delete spec.selector;
    for (const each of [metadata, podMetadata]) {
      const labels = fieldsOf(each?.labels);
      for (const label of generatedLabels) delete labels?.[label];
    }
  }
  return changed;
}

interface Fields {
  [field: string]: unknown;
  status?: unknown;
  spec?: unknown;
  template?: unknown;
  metadata?: unknown;
  labels?: unknown;
  selector?: unknown;
  manualSelector?: unknown;
}

/** Applies one operation to a field. The patches of Wave have no paths into lists. */
function applyOperation(object: Fields, operation: Exclude<JsonPatch[number], { readonly op: "test" }>): void {
  const names = pointerSegments(operation.path);
  const last = names.at(-1) ?? "";
  const inside = names.slice(0, -1).reduce<Fields | undefined>((fields, name) => fieldsOf(fields?.[name]), object);
  if (inside === undefined) return;
  if (operation.op === "remove") delete inside[last];
  else inside[last] = operation.value;
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null ? (value as Fields) : undefined;
}
