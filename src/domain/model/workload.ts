// domain/model: workloads in the slim form that Wave keeps, and the rules of their kinds. Knows references, compatibility and policy, no plan.

import { hash } from "node:crypto";
import type { ObjectMeta } from "#kubernetes";
import type { CompatibilitySource, OptIn } from "../compatibility/directive.ts";
import {
  contradictions,
  type DirectiveContext,
  hashAnnotationOf,
  optInOf,
  peerAnnotationNames,
  peerDirectivesOf,
  readDirectives,
} from "../compatibility/directives.ts";
import { annotationMistakes, misplacedLabels } from "../policy/annotation-mistakes.ts";
import { type PolicyAnnotations, policyAnnotationsOf } from "../policy/policy-rows.ts";
import {
  type Annotations,
  causeAnnotation,
  configDiffered,
  configDigests,
  configHash,
  consecutiveRollouts,
  failedAlertAnnotation,
  fingerprint,
  pinnedAnnotation,
  previousPins,
  providerClasses,
  recordedConfigAnnotation,
  rejectedConfigMaps,
  rolledIncomplete,
  schedulingDisabled,
  stateAnnotation,
  waveAnnotationBytes,
} from "../references/annotations.ts";
import { epochSeconds, lastWriters } from "../references/field-managers.ts";
import { limits } from "../references/references.ts";
import { invalidAnnotationTexts, type Warning } from "../references/warning.ts";
import { fieldsOf, numberOf, sharedString } from "../syntax/json.ts";
import { quoted } from "../syntax/names.ts";
import { standardForm, type TemplateSource, type WorkloadRow } from "./kind-row.ts";
import { maxKeptLength, plannedAnnotations, withShortValues } from "./planned-annotations.ts";
import { mountsSecretsStore } from "./pod-references.ts";
import { keptPodsOf, strategyOf } from "./rollout-strategy.ts";
import { disownScheduler, hasOldFinalizer, isPausedByReloader } from "./scheduling-hold.ts";
import {
  compatibilitySourceOf,
  referencesOf,
  type WorkloadObject,
  type WorkloadReferences,
} from "./workload-references.ts";
import type { Workload } from "./workload-shape.ts";

/** An object of a kind of workload that does not have the form of a workload. Definitions of custom resources may allow that. */
export class MalformedWorkload extends Error {
  override readonly name = "MalformedWorkload";
}

/**
 * Returns the slim form of an object. The object may lack uid and generation, and its name if it has a generateName, as during
 * creation. `context` adds the policy of its Namespace and the enabled compatibilities.
 *
 * Throws a {@link MalformedWorkload} that names the object if it does not have the form of a workload.
 */
export function toWorkload(row: WorkloadRow, object: WorkloadObject, context: DirectiveContext = {}): Workload {
  const { namespace, name, generateName } = object.metadata ?? {};
  try {
    const templateSource = row.workloadRef?.templateSourceOf(object);
    const isUnread = templateSource !== undefined && templateSource.generation === undefined;
    return slimForm(row, isUnread ? withEmptyTemplate(object) : standardForm(row, object), context, templateSource);
  } catch (cause) {
    const shownName = name ?? generateName ?? "";
    // A message of the JavaScript runtime may quote the value that it failed on.
    const why = cause instanceof Error ? (cause.constructor === Error ? cause.message : cause.name) : "unknown";
    throw new MalformedWorkload(`${row.id} "${namespace ?? ""}/${shownName}" is malformed: ${why}`, { cause });
  }
}

/** Returns the same as {@link toWorkload}; undefined if the object is malformed, so that other objects are not affected. */
export function toWorkloadIfValid(
  row: WorkloadRow,
  object: WorkloadObject,
  context: DirectiveContext = {},
): Workload | undefined {
  try {
    return toWorkload(row, object, context);
  } catch (error) {
    if (error instanceof MalformedWorkload) return undefined;
    throw error;
  }
}

/** Most workloads share this list. */
const noMistakes: readonly Warning[] = [];

function slimForm(
  row: WorkloadRow,
  object: WorkloadObject,
  context: DirectiveContext,
  templateSource: TemplateSource | undefined,
): Workload {
  const { metadata, spec } = object;
  if (metadata?.namespace === undefined) throw new Error("metadata.namespace is missing");
  if (metadata.name === undefined && metadata.generateName === undefined) throw new Error("metadata.name is missing");
  if (spec?.template?.spec === undefined)
    throw new Error(`${row.template.slice(1).replaceAll("/", ".")}.spec is missing`);
  const { schedulerName } = spec.template.spec;
  const annotations: Annotations = metadata.annotations ?? {};
  const template = spec.template.metadata?.annotations;
  const { compatibility } = context;
  const peerNames = peerAnnotationNames(compatibility?.understood);
  const bytes = waveAnnotationBytes(annotations, peerNames) + waveAnnotationBytes(template ?? {}, peerNames);
  const isTooLong = bytes > limits.annotations.max;
  const kept = (text: string | undefined) =>
    isTooLong && text !== undefined && text.length > maxKeptLength ? undefined : text;

  const source = compatibilitySourceOf(object);
  const controlledBy = row.skipsControlled ? controllerOf(metadata) : undefined;
  const directives = controlledBy === undefined ? readDirectives(isTooLong ? shortened(source) : source, context) : [];
  const optIn: OptIn = controlledBy === undefined ? optInOf(directives) : { state: "out", controlledBy };
  const strategy = strategyOf(row, templateSource, annotations, context);
  const { references, limitExceeded }: WorkloadReferences = isTooLong
    ? { references: [], limitExceeded: { limit: "annotations", count: bytes } }
    : optIn.state === "in"
      ? referencesOf(
          object,
          directives.filter((directive) => directive.optIn.state === "in"),
          context,
        )
      : { references: [], limitExceeded: undefined };
  const peer = compatibility && peerDirectivesOf(isTooLong ? {} : annotations, directives, compatibility);
  const withHash = strategy.hashOn === "workload" ? annotations : (template ?? {});
  const hashAnnotation = strategy.hashOn === "workload" ? configHash : hashAnnotationOf(withHash, peer);
  const recordedHash = kept(withHash[hashAnnotation]);
  const pinned = templateSource === undefined ? kept(template?.[pinnedAnnotation]) : undefined;
  const policy = policyAnnotationsOf(annotations, "workload", template);
  const mistakes =
    isTooLong || controlledBy !== undefined
      ? []
      : [
          ...annotationMistakes(source, metadata.labels ?? {}, policy),
          ...directives.flatMap((directive) => directive.mistakes),
          ...contradictions(source, directives),
          ...validatorMistakes(row, policy),
          ...(references.length > 0 ? inPlaceMistakes(row, object) : []),
        ];
  const planned = plannedAnnotations(annotations, compatibility?.understood);
  const { byWaveAt, hashWrittenAt, editedBy, templateEditedAt } = lastWriters(metadata, row.template);
  return {
    kind: row.id,
    row,
    namespace: sharedString(metadata.namespace),
    name: sharedString(metadata.name ?? ""),
    // The records of controllers keep it longer than the workload.
    uid: sharedString(metadata.uid ?? ""),
    generation: metadata.generation ?? 0,
    resourceVersion: Number(metadata.resourceVersion ?? 0),
    deleting: isDeleting(metadata),
    optIn,
    references,
    limitExceeded: optIn.state === "in" ? limitExceeded : undefined,
    annotationsFingerprint: fingerprintOf(metadata, peerNames),
    peer,
    strategy,
    templateSource,
    hashAnnotation,
    // Shares the string with the view that is kept.
    recordedHash: recordedHash && sharedString(recordedHash),
    recordedConfig: kept(annotations[recordedConfigAnnotation]),
    recordedClasses: kept(annotations[providerClasses]),
    pinned: pinned && sharedString(pinned),
    rejected: kept(annotations[rejectedConfigMaps]),
    previousPins: kept(annotations[previousPins]),
    differed: kept(annotations[configDiffered]),
    state: kept(annotations[stateAnnotation]),
    cause: kept(annotations[causeAnnotation]),
    configDigests: kept(annotations[configDigests]),
    hasAnnotations: metadata.annotations !== undefined && metadata.annotations !== null,
    hasTemplateMetadata: spec.template.metadata !== undefined && spec.template.metadata !== null,
    hasTemplateAnnotations: template !== undefined && template !== null,
    // A scheduling hold on a template source belongs to that object.
    schedulerName: templateSource === undefined ? schedulerName && sharedString(schedulerName) : undefined,
    mountsSecretsStore: mountsSecretsStore(spec.template.spec ?? {}),
    schedulerToRestore: kept(annotations[schedulingDisabled]),
    disowning: templateSource === undefined ? disownScheduler(row, metadata, schedulerName) : undefined,
    pausedByReloader: row.id === "Deployment" && optIn.state === "in" && isPausedByReloader(object, compatibility),
    oldFinalizer: hasOldFinalizer(metadata),
    mistakes:
      mistakes.length === 0 ? noMistakes : mistakes.map((message) => ({ reason: "InvalidAnnotation", message })),
    policy: isTooLong ? withShortValues(policy) : policy,
    replicas: numberOf(fieldsOf(spec).replicas),
    progress: row.progress(object, templateSource),
    keptPods: keptPodsOf(object),
    createdAt: epochSeconds(metadata.creationTimestamp),
    rolledAt: byWaveAt,
    hashWrittenAt,
    templateEditedAt,
    template: optIn.state === "in" && templateSource === undefined ? digestOfTemplate(spec.template) : 0,
    templateWrite: undefined,
    consecutiveRollouts: kept(annotations[consecutiveRollouts]),
    rolledIncomplete: kept(annotations[rolledIncomplete]),
    failedAlert: kept(annotations[failedAlertAnnotation]),
    editedBy,
    plannedAnnotations: isTooLong ? withShortValues(planned) : planned,
  };
}

function digestOfTemplate(template: object): number {
  return Number.parseInt(hash("sha256", JSON.stringify(template)).slice(0, 12), 16);
}

/** Returns the fingerprint of the annotations that Wave reads, and of labels that have their names. */
export function fingerprintOf({ annotations, labels }: ObjectMeta, peerNames: readonly string[]): string {
  return fingerprint(annotations ?? {}, peerNames) + misplacedLabels(labels ?? {}).join("\n");
}

/** Returns a message if the annotation that makes a Deployment a validator is on another kind. */
function validatorMistakes({ id }: WorkloadRow, { validator }: PolicyAnnotations): readonly string[] {
  return validator?.trim() !== "true" || id === "Deployment" ? [] : [invalidAnnotationTexts.validatorKind(id)];
}

/** Returns a message if an update in place would not make containers read new configuration. */
function inPlaceMistakes({ inPlaceUpdateMistake }: WorkloadRow, object: WorkloadObject): readonly string[] {
  const message = inPlaceUpdateMistake?.(object);
  return message === undefined ? [] : [message];
}

/** Returns the object with a pod template that reads nothing. */
function withEmptyTemplate({ spec, ...object }: WorkloadObject): WorkloadObject {
  return { ...object, spec: { ...spec, template: { spec: { containers: [] } } } } as WorkloadObject;
}

/** Reports whether an object is being deleted. */
export function isDeleting({ deletionTimestamp }: ObjectMeta): boolean {
  return deletionTimestamp !== undefined && deletionTimestamp !== null;
}

/** Returns the controller of an object (https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/). */
function controllerOf({ ownerReferences }: ObjectMeta): string | undefined {
  const owner = ownerReferences?.find(({ controller }) => controller === true);
  return owner && `${quoted(owner.kind)} ${quoted(owner.name)}`;
}

/** Cuts annotations that are too long to the length that is needed to find whether the workload has opted in. */
function shortened({ namespace, annotations, templateAnnotations }: CompatibilitySource): CompatibilitySource {
  const short = (all: Annotations) =>
    Object.fromEntries(Object.entries(all).map(([name, text]) => [name, text.slice(0, maxKeptLength)]));
  return { namespace, annotations: short(annotations), templateAnnotations: short(templateAnnotations) };
}
