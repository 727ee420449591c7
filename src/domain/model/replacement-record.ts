import { hash } from "node:crypto";
import { jobReplacementLabel, replacedJob, updateOnConfigChange } from "../references/annotations.ts";
import type { JobObject } from "./job-replacement.ts";
import { jobReplacement } from "./job-replacement.ts";

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
      name: recordName(metadata.name, replaces),
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

/** Returns the name of the record of a Job. It depends only on the Job. */
export function recordName(name: string, uid: string): string {
  return `${name.slice(0, 40).replace(/[.-]+$/, "")}-wave-${hash("sha256", uid).slice(0, 10)}`;
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
