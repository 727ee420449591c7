// The JSON Patch that applies a plan. Pure.
import {
  type ConfigView,
  type RecordedConfig,
  readsOtherContent,
  recordedConfigFor,
  writeRecordedConfig,
} from "../config/hash.ts";
import { writeDigests } from "../config/recorded-digests.ts";
import { patchOfKind } from "../model/kind-row.ts";
import { plannedNames } from "../model/planned-annotations.ts";
import { liftSchedulingHold, testSchedulingHold, unpausePatch } from "../model/scheduling-hold.ts";
import type { Workload } from "../model/workload-shape.ts";
import {
  type DueDecision,
  type IncompleteRollout,
  isDue,
  isRollAgain,
  type RolloutPlan,
} from "../outcomes/outcomes.ts";
import { writeCause } from "../pacing/cause.ts";
import { incompleteMark } from "../pacing/rollout-time.ts";
import {
  causeAnnotation,
  configDiffered,
  configDigests,
  consecutiveRollouts,
  failedAlertAnnotation,
  pinnedAnnotation,
  previousPins,
  providerClasses,
  recordedConfigAnnotation,
  rejectedConfigMaps,
  rolledAtAnnotation,
  rolledIncomplete,
} from "../references/annotations.ts";
import { annotationPointer, forMissingAnnotations, type JsonPatch, type JsonPatchOperation } from "../syntax/json.ts";

const templateMetadata = "/spec/template/metadata";
const templateAnnotations = `${templateMetadata}/annotations`;

/** The annotations of pins that are written beside a hash. */
export interface PinsToWrite {
  /** The copies that new Pods read; undefined: they read live configuration. */
  readonly pinned?: string | undefined;
  /** What stays rejected. */
  readonly rejected?: string | undefined;
  /** The annotation of the pins before the write; undefined: the workload does not return to them. */
  readonly previous?: string | undefined;
}

/**
 * Returns the JSON Patch that applies a plan; undefined if the plan writes nothing. The patch cannot overwrite a newer workload:
 * it fails if the workload was replaced, its spec was edited, or an annotation that the plan reads has changed. `now` is the
 * time of a restart, milliseconds since the epoch. Without `pins` new Pods read live configuration.
 */
export function patchFor(
  workload: Workload,
  plan: RolloutPlan,
  now = 0,
  pins: PinsToWrite = {},
): JsonPatch | undefined {
  if (!isDue(plan)) return undefined;
  const patch = patchOfKind(workload.row, operationsFor(workload, plan, now, pins));
  return workload.hasAnnotations ? patch : forMissingAnnotations(patch);
}

function operationsFor(
  workload: Workload,
  plan: DueDecision & Pick<RolloutPlan, "reason">,
  now: number,
  { pinned, rejected, previous }: PinsToWrite,
): JsonPatch {
  switch (plan.outcome) {
    case "cleanUp":
      return [
        ...liftOperations(workload),
        ...recordIncomplete(workload, plan),
        ...(workload.pausedByReloader ? unpausePatch : []),
      ];
    case "recorded":
      return [
        ...testIdentity(workload),
        ...testAnnotations(workload),
        ...setAnnotation(
          recordedConfigAnnotation,
          workload.recordedConfig,
          writeRecordedConfig({
            ...plan.view,
            ...unprovenAfter(workload, plan),
            recorded: workload.recordedHash ?? "",
          }),
        ),
        ...recordDigests(workload, plan.view),
        ...recordClasses(workload, plan.view),
        ...recordIncomplete(workload, plan),
        ...(plan.cause === "proven" ? forgetDifferences(workload) : []),
        ...liftSchedulingHold(workload),
      ];
    case "firstHash":
    case "roll":
      if (isRollAgain(plan))
        return [
          ...testIdentity(workload),
          ...testAnnotations(workload),
          recordCause({ ...plan, hash: workload.recordedHash ?? "" }, now),
          setRolledAt(workload, now),
        ];
      return [
        ...testIdentity(workload),
        ...testAnnotations(workload),
        ...recordConsecutiveRollouts(workload, plan.consecutiveRollouts),
        // A plan without a count is of a webhook, which starts no rollout.
        ...(plan.consecutiveRollouts === undefined ? [] : [recordCause(plan, now)]),
        ...recordIncomplete(workload, plan),
        ...writeHash(workload, { ...plan.view, hash: plan.hash }, "keep"),
        ...rollWithSameHash(workload, plan.hash, now),
        ...setPinned(workload, pinned),
        ...setRejected(workload, rejected),
        ...setAnnotation(previousPins, workload.previousPins, previous),
        ...setAnnotation(failedAlertAnnotation, workload.failedAlert, undefined),
        ...(plan.outcome === "roll" ? restart(workload, now) : []),
        ...liftSchedulingHold(workload),
      ];
  }
}

/** Returns what the recorded configuration says of its evidence: only evidence ends the doubt of the last one. */
function unprovenAfter(
  { recordedHash = "", recordedConfig }: Workload,
  { cause, unproven }: Extract<DueDecision, { outcome: "recorded" }>,
): Pick<RecordedConfig, "unproven"> {
  if (cause === "proven" || unproven !== undefined) return { unproven };
  return { unproven: recordedConfigFor(recordedHash, recordedConfig)?.unproven };
}

/**
 * Returns the restart of Pods whose template does not change. It is dated at the next whole second: times of the API are whole
 * seconds, and a Pod created in the second of the restart would be taken as new, whatever it has read.
 */
function restart({ strategy, row: { restartAt } }: Workload, now: number): readonly JsonPatchOperation[] {
  if (!strategy.setsRestartAt || restartAt === undefined) return [];
  const next = new Date(Math.floor(now / 1000 + 1) * 1000);
  return [{ op: "add", path: restartAt, value: next.toISOString().replace(/\.\d+Z$/, "Z") }];
}

/**
 * Records the number of a rollout in its series, also of the first one: with a field that no manifest has, Wave's entry in `managedFields` keeps
 * the time of the rollout, although another client takes the hash by a forced server-side apply.
 */
function recordConsecutiveRollouts(
  { consecutiveRollouts: recorded }: Workload,
  count: number | undefined,
): readonly JsonPatchOperation[] {
  return count === undefined ? [] : setAnnotation(consecutiveRollouts, recorded, `${count}`);
}

/** Records the cause of a rollout, so that each leader can report how the rollout ends, and its revision shows why there is one. */
function recordCause(
  plan: Extract<DueDecision, { readonly outcome: "firstHash" | "roll" }> & Pick<RolloutPlan, "reason">,
  at: number,
): JsonPatchOperation {
  const { hash, reason: why, edits = [], heldBy } = plan;
  return { op: "add", path: annotationPointer(causeAnnotation), value: writeCause(hash, { at, why, edits, heldBy }) };
}

/** Records that the workload is not complete when it is rolled, so that its failure halts no other workload, also after a restart. */
function recordIncomplete(
  { rolledIncomplete: recorded }: Workload,
  plan: { readonly incomplete?: IncompleteRollout | undefined },
): readonly JsonPatchOperation[] {
  if (!("incomplete" in plan)) return [];
  return setAnnotation(rolledIncomplete, recorded, plan.incomplete && incompleteMark(plan.incomplete));
}

/**
 * Returns the write that replaces the Pods although the hash in the pod template stays: they read the recorded configuration, and the next
 * ones read again what the hash is of.
 */
function rollWithSameHash(workload: Workload, hash: string, now: number): readonly JsonPatchOperation[] {
  if (!workload.strategy.podsCarryHash || !readsOtherContent(workload, hash)) return [];
  return [
    { op: "remove", path: annotationPointer(recordedConfigAnnotation) },
    setRolledAt(workload, now),
    ...forgetDifferences(workload),
  ];
}

/**
 * Returns the write of the hash of a view into the pod template, if it is not there already. The recorded configuration
 * of the previous hash is removed, or kept: if another client takes the new hash back, it shows what the Pods read. If some objects are untracked, a new recorded configuration has the full hash, for the time when they
 * are tracked again.
 */
export function writeHash(
  workload: Workload,
  view: ConfigView,
  previous: "keep" | "remove" = "remove",
): readonly JsonPatchOperation[] {
  const { hash, fullHash } = view;
  const { recordedConfig: before } = workload;
  const classes = recordClasses(workload, view);
  if (fullHash === undefined && workload.recordedHash === hash) return classes;
  // No other client takes a hash out of an immutable template.
  const isKept =
    previous === "keep" &&
    !workload.strategy.hasImmutableTemplate &&
    recordedConfigFor(workload.recordedHash ?? "", before) !== undefined;
  const after = fullHash === undefined ? undefined : writeRecordedConfig({ recorded: hash, hash, fullHash });
  const recordedConfig = setAnnotation(recordedConfigAnnotation, before, after ?? (isKept ? before : undefined));
  return [...setHash(workload, hash), ...recordedConfig, ...recordDigests(workload, view), ...classes];
}

/** Returns the write of a hash, if it is not there already: into the hash annotation of the workload, or into `annotation`. */
export function setHash(
  workload: Workload,
  hash: string,
  annotation = workload.hashAnnotation,
): readonly JsonPatchOperation[] {
  if (workload.recordedHash === hash) return [];
  if (workload.strategy.hashOn === "workload") return [{ op: "add", path: annotationPointer(annotation), value: hash }];
  return [addToTemplate(workload, annotation, hash)];
}

/** Returns the write of an annotation into the pod template. "add" also replaces. */
function addToTemplate(
  { hasTemplateMetadata, hasTemplateAnnotations }: Workload,
  annotation: string,
  value: string,
): JsonPatchOperation {
  if (!hasTemplateMetadata)
    return { op: "add", path: templateMetadata, value: { annotations: { [annotation]: value } } };
  if (!hasTemplateAnnotations) return { op: "add", path: templateAnnotations, value: { [annotation]: value } };
  return { op: "add", path: annotationPointer(annotation, templateMetadata), value };
}

/** Returns the write or removal of an annotation, if that changes it. "add" also replaces. */
function setAnnotation(
  name: string,
  before: string | undefined,
  value: string | undefined,
  metadata?: string,
): readonly JsonPatchOperation[] {
  if (value === before) return [];
  const path = annotationPointer(name, metadata);
  return [value === undefined ? { op: "remove", path } : { op: "add", path, value }];
}

/** Returns the write of the pins beside a hash, which must be in the pod template or be written before. */
export function setPinned({ pinned: before }: Workload, pinned: string | undefined): readonly JsonPatchOperation[] {
  return setAnnotation(pinnedAnnotation, before, pinned, templateMetadata);
}

/** Returns the write of what is rejected. */
export function setRejected(
  { rejected: before }: Workload,
  rejected: string | undefined,
): readonly JsonPatchOperation[] {
  return setAnnotation(rejectedConfigMaps, before, rejected);
}

/**
 * Forgets when the configuration differed, as soon as the Pods are proven or replaced: a later leader would replace those that started in that
 * time. No test covers this annotation, and "remove" fails if it is gone already.
 */
function forgetDifferences({ differed }: Workload): readonly JsonPatchOperation[] {
  if (differed === undefined) return [];
  const path = annotationPointer(configDiffered);
  return [
    { op: "add", path, value: "" },
    { op: "remove", path },
  ];
}

/** Returns the patch that records what an undo rejects, without new Pods. It fails if the workload has changed. */
export function rejectPatch(workload: Workload, rejected: string | undefined): JsonPatch {
  return patchOfKind(workload.row, [
    ...testIdentity(workload),
    ...testAnnotations(workload),
    ...setRejected(workload, rejected),
  ]);
}

/** Returns the patch of the annotation of previous pins, without new Pods. It fails if the workload has changed. */
export function previousPinsPatch(workload: Workload, previous: string | undefined): JsonPatch {
  const write = setAnnotation(previousPins, workload.previousPins, previous);
  return patchOfKind(workload.row, [...testIdentity(workload), ...write]);
}

/** Returns the patch that lifts a scheduling hold whatever the plan is. It fails if the workload has changed. */
export function liftPatch(workload: Workload): JsonPatch {
  return patchOfKind(workload.row, liftOperations(workload));
}

function liftOperations(workload: Workload): readonly JsonPatchOperation[] {
  return [...testIdentity(workload), ...testSchedulingHold(workload), ...liftSchedulingHold(workload)];
}

/** Returns the write that replaces all Pods without a change of the hash. `now` is in milliseconds since the epoch. */
function setRolledAt(workload: Workload, now: number): JsonPatchOperation {
  return addToTemplate(workload, rolledAtAnnotation, new Date(now).toISOString().replace(/\.\d+Z$/, "Z"));
}

function recordDigests({ configDigests: before }: Workload, view: ConfigView): readonly JsonPatchOperation[] {
  return setAnnotation(configDigests, before, writeDigests(view));
}

function recordClasses(
  { recordedClasses: before }: Workload,
  { recordedClasses }: ConfigView,
): readonly JsonPatchOperation[] {
  return setAnnotation(providerClasses, before, recordedClasses);
}

function testIdentity({ uid, generation }: Workload): readonly JsonPatchOperation[] {
  return [
    { op: "test", path: "/metadata/uid", value: uid },
    { op: "test", path: "/metadata/generation", value: generation },
  ];
}

/**
 * Returns operations that fail if an annotation that the plan may depend on has changed, or is present now. Such an annotation may name
 * other objects. The tests also cover annotations that Wave writes: if a stale cache lacks the first hash on the workload, Wave would
 * treat the next hash as the first one.
 *
 * An edit of annotations raises the generation of a Deployment, so the patch tests only the generation there. Thirty tests would cost the
 * API server a sixth more. An absent map needs a test, because the patch may add the map.
 *
 * A test for null passes if the annotation is missing, although RFC 6902 differs. The library of the API server does the same, and the
 * conformance tests check it.
 */
function testAnnotations({ plannedAnnotations, peer, hasAnnotations, row }: Workload): readonly JsonPatchOperation[] {
  if (!hasAnnotations) return [{ op: "test", path: "/metadata/annotations", value: null }];
  if (row.annotationsRaiseGeneration) return [];
  return plannedNames(peer?.understood).map((name) => {
    return { op: "test", path: annotationPointer(name), value: plannedAnnotations[name] ?? null };
  });
}
