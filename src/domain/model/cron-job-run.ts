import { hash } from "node:crypto";
import { invalidScheduler } from "./scheduling-hold.ts";
import type { Workload } from "./workload.ts";

/** A CronJob as the API server sends it, as far as a run of it is made from it. */
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
 * A Job that runs a CronJob once, as `kubectl create job --from` makes it, with the hash of the configuration that it reads; undefined
 * where it is not to run, because somebody suspended it or its Pods are held. Of one state of the CronJob and one hash there is one
 * name: whoever makes it a second time, after a crash for example, is told that it exists.
 */
export function manualRun({ spec }: CronJobObject, workload: Workload, recorded: string): object | undefined {
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
      // With a controller it counts for the limits of the history, else such runs would lie about for ever.
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: { ...jobSpec, template: { ...template, metadata: { ...template.metadata, annotations } } },
  };
}
