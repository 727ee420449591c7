// What a request does to the pod template of a workload. Pure.
import { intendedScheduler, sameScheduler } from "../model/scheduling-hold.ts";
import type { WorkloadObject } from "../model/workload.ts";
import { pinnedAnnotation } from "../references/annotations.ts";
import { equalJson } from "../syntax/equal-json.ts";
import type { AdmissionObject } from "./admission-object.ts";

/**
 * Reports whether two states of a workload create the same Pods, apart from the hash and the scheduling hold of Wave. The API
 * server has set defaults in both states, so they can be compared as they are.
 */
export function sameTemplates(after: AdmissionObject, before: AdmissionObject): boolean {
  const scheduler = intendedScheduler(after.workload, before.workload);
  const hashes = [after.workload.hashAnnotation, before.workload.hashAnnotation];
  return (
    sameScheduler(scheduler, intendedScheduler(before.workload)) &&
    equalJson(withoutWaveFields(after.object, hashes), withoutWaveFields(before.object, hashes))
  );
}

/**
 * Reports whether a workload keeps the first pod template for some of its Pods (StatefulSet, CloneSet). These Pods would keep the scheduling hold
 * with which the workload was created.
 */
export function hasPartition({ spec }: WorkloadObject): boolean {
  type Update = { readonly partition?: unknown; readonly rollingUpdate?: { readonly partition?: unknown } | null };
  const { updateStrategy } = { ...spec } as { readonly updateStrategy?: Update | null };
  const partition = updateStrategy?.rollingUpdate?.partition ?? updateStrategy?.partition ?? 0;
  return partition !== 0 && partition !== "0%";
}

function withoutWaveFields({ spec }: WorkloadObject, hashes: readonly string[]): unknown {
  const { metadata, spec: podSpec, ...template } = spec?.template ?? {};
  const annotations = { ...metadata?.annotations };
  for (const name of [...hashes, pinnedAnnotation]) delete annotations[name];
  const { schedulerName: _schedulerName, ...rest } = podSpec ?? {};
  return { ...template, metadata: { ...metadata, annotations }, spec: rest };
}
