import { hash } from "node:crypto";
import { invalidScheduler } from "./scheduling-hold.ts";
import type { Workload } from "./workload.ts";

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
      name: `${name.slice(0, 40).replace(/[.-]+$/, "")}-wave-${hash("sha256", `${uid} ${generation} ${recorded}`).slice(0, 10)}`,
      labels: metadata?.labels ?? {},
      annotations: { ...metadata?.annotations, "cronjob.kubernetes.io/instantiate": "manual" },
      // With a controller, the history limits of the CronJob include the run. Otherwise such runs would never be deleted.
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: { ...jobSpec, template: { ...template, metadata: { ...template.metadata, annotations } } },
  };
}
