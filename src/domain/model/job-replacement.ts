import { hash } from "node:crypto";
import { jobReplacementLabel, replacedJob, updateOnConfigChange } from "../references/annotations.ts";
import { type JsonPatch, pointerSegments } from "../syntax/json.ts";
import { invalidScheduler } from "./scheduling-hold.ts";
import type { Workload } from "./workload-shape.ts";

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

type Fields = Record<string, unknown>;

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

/**
 * The record of a Job that is being replaced, as the API server sends it: a suspended Job in the same namespace with the same pod template. It
 * is a Job, so that only a client that may create Jobs can make Wave create one.
 */
export type ReplacementRecord = JobObject & {
  readonly metadata: {
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
};

/** The Job that a record stores. */
export interface RecordedReplacement {
  readonly name: string;
  /** The uid of the deleted Job. */
  readonly replaces: string;
  readonly manifest: object;
}

/** The fields that differ between a record and its Job, as the annotation has them. */
interface Saved {
  readonly replaces: string;
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  readonly spec: { readonly [field: string]: unknown };
}

/** The fields of a Job that would let its record run Pods, or select the Pods of the Job. */
const savedFields = ["suspend", "parallelism", "selector", "manualSelector", "managedBy", "ttlSecondsAfterFinished"];

/** Returns the record of a Job that replaces the Job with a uid. The record runs no Pods, not even if a client resumes it. */
export function replacementRecord(manifest: object, replaces: string): object {
  const { metadata, spec } = manifest as { readonly metadata: Saved["metadata"]; readonly spec?: Saved["spec"] };
  const fields = Object.entries(spec ?? {});
  const saved = fields.filter(([field]) => savedFields.includes(field));
  const { namespace, ...kept } = metadata;
  const stored: Saved = { replaces, metadata: kept, spec: Object.fromEntries(saved) };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      namespace,
      name: nameOfCreatedJob(metadata.name, replaces),
      labels: { [jobReplacementLabel]: "true" },
      // The Namespace may opt in all of its workloads.
      annotations: { [updateOnConfigChange]: "false", [replacedJob]: JSON.stringify(stored) },
    },
    spec: {
      ...Object.fromEntries(fields.filter(([field]) => !savedFields.includes(field))),
      suspend: true,
      parallelism: 0,
    },
  };
}

/** Returns the name of a Job that Wave creates: the record of a Job, or a run of a CronJob. `id` distinguishes it from others of the same owner. */
export function nameOfCreatedJob(name: string, id: string): string {
  return `${name.slice(0, 40).replace(/[.-]+$/, "")}-wave-${hash("sha256", id).slice(0, 10)}`;
}

/** Returns the Job that a record stores; undefined if Wave did not store the record. */
export function recordedReplacement(record: ReplacementRecord): RecordedReplacement | undefined {
  const saved = parsed(record.metadata.annotations?.[replacedJob]);
  if (saved === undefined) return undefined;
  const { namespace } = record.metadata;
  const { spec } = jobReplacement(record, []) as { readonly spec?: object };
  const kept = Object.entries(spec ?? {}).filter(([field]) => !savedFields.includes(field));
  return {
    name: saved.metadata.name,
    replaces: saved.replaces,
    manifest: {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { ...saved.metadata, namespace },
      spec: { ...Object.fromEntries(kept), ...saved.spec },
    },
  };
}

function parsed(annotation: string | undefined): Saved | undefined {
  if (annotation === undefined) return undefined;
  try {
    const { replaces, metadata, spec } = JSON.parse(annotation);
    if (typeof replaces !== "string" || typeof metadata?.name !== "string" || typeof spec !== "object")
      return undefined;
    const only = Object.entries(spec ?? {}).filter(([field]) => savedFields.includes(field));
    return { replaces, metadata, spec: Object.fromEntries(only) };
  } catch {
    return undefined;
  }
}

/** A CronJob in the form that the API server sends, with the fields that a run needs. */
export interface CronJobObject {
  readonly spec?: {
    readonly suspend?: boolean;
    readonly jobTemplate?: {
      readonly metadata?: { readonly labels?: object; readonly annotations?: object };
      readonly spec?: { readonly template?: PodTemplate };
    };
  };
}

interface PodTemplate {
  readonly metadata?: { readonly annotations?: object };
  readonly spec?: { readonly schedulerName?: string };
}

/**
 * Returns a Job that runs a CronJob once, as `kubectl create job --from` does, with the hash of its configuration. Returns undefined if the
 * CronJob is suspended or has a scheduling hold. The name depends only on the state of the CronJob and the hash. So a second creation, for
 * example after a crash, fails with AlreadyExists.
 */
export function cronJobRun({ spec }: CronJobObject, workload: Workload, recorded: string): object | undefined {
  const { metadata, spec: jobSpec } = spec?.jobTemplate ?? {};
  const { template } = jobSpec ?? {};
  if (spec?.suspend || template === undefined || template.spec?.schedulerName === invalidScheduler) return undefined;
  const { namespace, name, uid, generation, hashAnnotation } = workload;
  const { apiVersion, kind } = workload.row;
  const annotations = { ...template.metadata?.annotations, [hashAnnotation]: recorded };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      namespace,
      name: nameOfCreatedJob(name, `${uid} ${generation} ${recorded}`),
      labels: metadata?.labels ?? {},
      annotations: { ...metadata?.annotations, "cronjob.kubernetes.io/instantiate": "manual" },
      // With a controller, the history limits of the CronJob include the run. Otherwise such runs would never be deleted.
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: { ...jobSpec, template: { ...template, metadata: { ...template.metadata, annotations } } },
  };
}
