import { foreignNames } from "../compatibility/peer-annotations.ts";
import type { ConfigView } from "../config/hash.ts";
import { type RecordedConfig, writeRecordedConfig } from "../config/recorded-config.ts";
import { patchOfKind } from "../model/kind-row.ts";
import { resume } from "../model/left-paused.ts";
import { openSchedulingHold, testSchedulingHold } from "../model/scheduling-hold.ts";
import { recordsBeside, type Workload } from "../model/workload.ts";
import type { RolloutPlan } from "../plan/plan.ts";
import { policyAnnotations, policyRows } from "../policy/policy-rows.ts";
import {
  annotationPrefix,
  consecutiveRollouts,
  providerClasses,
  recordedConfigAnnotation,
  schedulingDisabled,
  updateOnConfigChange,
} from "../references/annotations.ts";
import { onAbsentAnnotations } from "../syntax/absent-annotations.ts";
import { annotationPath, type JsonPatch, type JsonPatchOperation } from "../syntax/json-patch.ts";

export type { JsonPatch, JsonPatchOperation } from "../syntax/json-patch.ts";

const templateMetadata = "/spec/template/metadata";
const templateAnnotations = `${templateMetadata}/annotations`;
const classesPath = `/metadata/annotations/${annotationPath(providerClasses)}`;
const recordedConfigPath = `/metadata/annotations/${annotationPath(recordedConfigAnnotation)}`;

/**
 * The write that carries out a plan, undefined where there is nothing to write. It cannot overwrite a newer workload:
 * it fails where that was replaced, its spec edited, or an annotation changed that the plan was made from. `now` is what a
 * restart is dated, milliseconds since the epoch.
 */
export function patchFor(workload: Workload, plan: RolloutPlan, now = 0): JsonPatch | undefined {
  const operations = operationsFor(workload, plan, now);
  if (operations === undefined) return undefined;
  const patch = patchOfKind(workload.row, operations);
  return workload.hasAnnotations ? patch : onAbsentAnnotations(patch);
}

function operationsFor(workload: Workload, plan: RolloutPlan, now: number): JsonPatch | undefined {
  switch (plan.outcome) {
    case "ignore":
    case "current":
    case "waiting":
    case "overLimit":
    case "held":
      return undefined;
    case "cleanUp":
      return [
        ...testIdentity(workload),
        ...testSchedulingHold(workload),
        ...openSchedulingHold(workload),
        ...(workload.leftPaused ? resume : []),
      ];
    case "recorded":
      return [
        ...testIdentity(workload),
        ...testAnnotations(workload),
        ...recordConfig(workload, { recorded: workload.recordedHash ?? "", ...plan.view }),
        ...noteClasses(workload, plan.view),
        ...openSchedulingHold(workload),
      ];
    case "firstHash":
    case "roll":
      return [
        ...testIdentity(workload),
        ...testAnnotations(workload),
        ...noteStreak(workload, plan.streak),
        ...writeHash(workload, { ...plan.view, hash: plan.hash }),
        ...(plan.outcome === "roll" ? restart(workload, now) : []),
        ...openSchedulingHold(workload),
      ];
  }
}

/**
 * Has Pods restarted whose template does not change: at the next whole second, since times of the API have no parts of one, and a
 * Pod that was made in the second of the restart is taken for a new one, whatever it has read.
 */
function restart({ rolledBy, row: { restartAt } }: Workload, now: number): readonly JsonPatchOperation[] {
  if (rolledBy !== "restart" || restartAt === undefined) return [];
  const next = new Date(Math.floor(now / 1000 + 1) * 1000);
  return [{ op: "add", path: restartAt, value: next.toISOString().replace(/\.\d+Z$/, "Z") }];
}

/** Notes which one of a row of rolls this is; the first needs no note. */
function noteStreak({ streak: noted }: Workload, streak: number | undefined): readonly JsonPatchOperation[] {
  const wanted = streak === undefined || streak <= 1 ? undefined : `${streak}`;
  if (streak === undefined || wanted === noted) return [];
  const path = `/metadata/annotations/${annotationPath(consecutiveRollouts)}`;
  return [
    { op: "test", path, value: noted ?? null },
    wanted === undefined ? { op: "remove", path } : { op: "add", path, value: wanted },
  ];
}

/**
 * Writes the hash of a view into the pod template, where it is not there already, and removes the baseline of the hash
 * before it. Where some of what Pods see does not count, a new baseline has the hash of all of it, for the day on which
 * that counts again.
 */
export function writeHash(
  workload: Workload,
  { hash, everything, classes }: Pick<ConfigView, "hash" | "everything" | "classes">,
): readonly JsonPatchOperation[] {
  const noted = noteClasses(workload, { classes });
  if (everything !== undefined) {
    const recordedConfig = recordConfig(workload, { recorded: hash, hash, everything });
    return [...setHash(workload, hash), ...recordedConfig, ...noted];
  }
  if (workload.recordedHash === hash) return noted;
  const recordedConfig: readonly JsonPatchOperation[] =
    workload.recordedConfig === undefined ? [] : [{ op: "remove", path: recordedConfigPath }];
  return [...setHash(workload, hash), ...recordedConfig, ...noted];
}

/**
 * Writes the hash, where it is not there already: into the annotation that has the workload's hash, or into the given
 * one.
 */
export function setHash(
  workload: Workload,
  hash: string,
  annotation = workload.hashAnnotation,
): readonly JsonPatchOperation[] {
  if (workload.recordedHash === hash) return [];
  if (recordsBeside(workload))
    return [{ op: "add", path: `/metadata/annotations/${annotationPath(annotation)}`, value: hash }];
  if (!workload.hasTemplateMetadata)
    return [{ op: "add", path: templateMetadata, value: { annotations: { [annotation]: hash } } }];
  // "add" also replaces.
  if (!workload.hasTemplateAnnotations)
    return [{ op: "add", path: templateAnnotations, value: { [annotation]: hash } }];
  return [{ op: "add", path: `${templateAnnotations}/${annotationPath(annotation)}`, value: hash }];
}

/** Notes what a recorded hash is taken to stand for, where it is not noted already. "add" also replaces. */
function recordConfig(
  { recordedConfig }: Workload,
  { recorded, hash, everything }: RecordedConfig,
): readonly JsonPatchOperation[] {
  const value = writeRecordedConfig({ recorded, hash, everything });
  return value === recordedConfig ? [] : [{ op: "add", path: recordedConfigPath, value }];
}

/** Notes which versions of SecretProviderClasses the hash is of. "add" also replaces. */
function noteClasses(
  { notedClasses }: Workload,
  { classes }: Pick<ConfigView, "classes">,
): readonly JsonPatchOperation[] {
  if (classes === notedClasses) return [];
  return [
    classes === undefined ? { op: "remove", path: classesPath } : { op: "add", path: classesPath, value: classes },
  ];
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
 * Nor does a hash raise it that is recorded there: without it who has not heard of the first would take the next for that, and roll nothing.
 */
function testAnnotations(workload: Workload): readonly JsonPatchOperation[] {
  const { extras, disabledScheduler, recordedConfig, notedClasses, hashAnnotation, recordedHash } = workload;
  const read: readonly (readonly [string, string | undefined])[] = [
    [updateOnConfigChange, optInRead(workload)],
    ...foreignRead(workload),
    ...Object.entries(extras),
    [schedulingDisabled, disabledScheduler],
    [recordedConfigAnnotation, recordedConfig],
    ...(recordsBeside(workload) ? [[hashAnnotation, recordedHash] as const] : []),
    ...(readsClasses(workload) ? [[providerClasses, notedClasses] as const] : []),
    ...policyRead(workload),
  ];
  return read.map(([name, value]) => ({
    op: "test",
    path: `/metadata/annotations/${annotationPath(name)}`,
    value: value ?? null,
  }));
}

/** Regular expressions may name them, too. */
function readsClasses({ references, foreign, notedClasses }: Workload): boolean {
  const names = [...references, ...(foreign?.patterns ?? [])];
  return notedClasses !== undefined || names.some(({ kind }) => kind === "SecretProviderClass");
}

/** What it was read to say of itself, in Wave's own dialect. */
function optInRead({ optIn, foreign }: Workload): string | undefined {
  if (optIn.state !== "in") return undefined;
  return optIn.by === "compatibility"
    ? foreign?.annotations[updateOnConfigChange]
    : optIn.by === "workload"
      ? "true"
      : undefined;
}

/** What it says in other dialects, also that it says nothing. The generation of a Deployment stands for that. */
function foreignRead({ row, foreign }: Workload): readonly (readonly [string, string | undefined])[] {
  if (row.annotationsRaiseGeneration || foreign === undefined) return [];
  return foreignNames(foreign.understood).map((name) => [name, foreign.annotations[name]]);
}

/** What it says of when it is rolled, also that it says nothing. The generation of a Deployment stands for that. */
function policyRead({ row, policy }: Workload): readonly (readonly [string, string | undefined])[] {
  if (row.annotationsRaiseGeneration) return [];
  return policyAnnotations
    .filter((name) => policyRows[name].places.includes("workload"))
    .map((name) => [name, policy[name], policyRows[name].most] as const)
    .filter(([, text = "", most]) => text.length <= most) // else it is not kept in full
    .map(([name, text]) => [annotationPrefix + name, text]);
}
