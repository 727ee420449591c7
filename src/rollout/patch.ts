import { configBaseline, configHash, schedulingDisabled, updateOnConfigChange } from "./annotations.ts";
import { writeBaseline } from "./baseline.ts";
import { annotationPath, type JsonPatch, type JsonPatchOperation } from "./json-patch.ts";
import type { RolloutPlan } from "./plan.ts";
import { openGate, testGate } from "./scheduling-gate.ts";
import type { Workload } from "./workload.ts";

export type { JsonPatch, JsonPatchOperation } from "./json-patch.ts";

const templateAnnotations = "/spec/template/metadata/annotations";
const baselinePath = `/metadata/annotations/${annotationPath(configBaseline)}`;

/**
 * The write that carries out a plan, undefined where there is nothing to write. It cannot overwrite a newer workload:
 * it fails where that was replaced, its spec edited, or an annotation changed that the plan was made from.
 */
export function patchFor(workload: Workload, plan: RolloutPlan): JsonPatch | undefined {
  switch (plan.outcome) {
    case "ignore":
    case "unchanged":
    case "waiting":
    case "overBudget":
    case "held":
      return undefined;
    case "cleanUp":
      return [...testIdentity(workload), ...testGate(workload), ...openGate(workload)];
    case "adopt":
      return [
        ...testIdentity(workload),
        ...testAnnotations(workload),
        ...noteBaseline(workload, plan.hash),
        ...openGate(workload),
      ];
    case "baseline":
    case "roll":
      return [
        ...testIdentity(workload),
        ...testAnnotations(workload),
        ...writeHash(workload, plan.hash),
        ...openGate(workload),
      ];
  }
}

/** Writes the hash into the pod template, where it is not there already, in place of a baseline for the one before. */
export function writeHash(workload: Workload, hash: string): readonly JsonPatchOperation[] {
  if (workload.recordedHash === hash) return [];
  const baseline: readonly JsonPatchOperation[] =
    workload.baseline === undefined ? [] : [{ op: "remove", path: baselinePath }];
  return [...setHash(workload, hash), ...baseline];
}

/** Writes the hash into the pod template, where it is not there already. */
export function setHash(workload: Workload, hash: string): readonly JsonPatchOperation[] {
  if (workload.recordedHash === hash) return [];
  // "add" also replaces. A template has labels, which its selector matches, and so always has metadata.
  if (!workload.hasTemplateAnnotations)
    return [{ op: "add", path: templateAnnotations, value: { [configHash]: hash } }];
  return [{ op: "add", path: `${templateAnnotations}/${annotationPath(configHash)}`, value: hash }];
}

/** Notes what the recorded hash is taken to stand for. A workload that has opted in has annotations. "add" also replaces. */
function noteBaseline({ recordedHash: recorded = "" }: Workload, hash: string): readonly JsonPatchOperation[] {
  return [{ op: "add", path: baselinePath, value: writeBaseline({ recorded, hash }) }];
}

function testIdentity({ uid, generation }: Workload): readonly JsonPatchOperation[] {
  return [
    { op: "test", path: "/metadata/uid", value: uid },
    { op: "test", path: "/metadata/generation", value: generation },
  ];
}

/**
 * Fails where an annotation that the plan read is no longer as it was read, or is there by now: it may name other objects,
 * and an edit of it raises the generation of a Deployment, but not of a StatefulSet or DaemonSet. A test for null passes
 * where there is none, though RFC 6902 says otherwise: so does the library of the API server, and the conformance tests.
 */
function testAnnotations({ extras, disabledScheduler, baseline }: Workload): readonly JsonPatchOperation[] {
  const read: readonly (readonly [string, string | undefined])[] = [
    [updateOnConfigChange, "true"],
    ...Object.entries(extras),
    [schedulingDisabled, disabledScheduler],
    [configBaseline, baseline],
  ];
  return read.map(([name, value]) => ({
    op: "test",
    path: `/metadata/annotations/${annotationPath(name)}`,
    value: value ?? null,
  }));
}
