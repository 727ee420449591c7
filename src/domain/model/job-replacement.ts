import { type JsonPatch, namesIn } from "../syntax/json-patch.ts";

/** A Job as the API server sends it, as far as another one is made from it. */
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

/** What the API server fills into the labels of Jobs and of their Pods, for each object anew. */
const generatedLabels = [
  "controller-uid",
  "job-name",
  "batch.kubernetes.io/controller-uid",
  "batch.kubernetes.io/job-name",
];

/**
 * The Job that a patch would make of another one, which it cannot, since pod templates of Jobs do not change: as its owner wrote it,
 * without what the API server and the Job controller filled in.
 * (https://github.com/kubernetes/kubernetes/blob/master/pkg/registry/batch/job/strategy.go, generateSelector)
 */
export function replacementOf(object: JobObject, patch: JsonPatch): object {
  const changed = structuredClone({ apiVersion: "batch/v1", kind: "Job", ...object }) as Fields;
  for (const operation of patch) if (operation.op !== "test") change(changed, operation);
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

/** Only of fields, as Wave's own patches are. */
function change(object: Fields, operation: Exclude<JsonPatch[number], { readonly op: "test" }>): void {
  const names = namesIn(operation.path);
  const last = names.at(-1) ?? "";
  const inside = names.slice(0, -1).reduce<Fields | undefined>((fields, name) => fieldsOf(fields?.[name]), object);
  if (inside === undefined) return;
  if (operation.op === "remove") delete inside[last];
  else inside[last] = operation.value;
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null ? (value as Fields) : undefined;
}
