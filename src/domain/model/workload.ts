import type { ObjectMeta } from "kubernetes-types/meta/v1.d.ts";
import type { Asked, CompatibilitySource } from "../compatibility/directive.ts";
import { type Asking, askedOf, contradictions, optInOf } from "../compatibility/directives.ts";
import type { OptIn } from "../compatibility/opt-in.ts";
import {
  type Foreign,
  foreignHash,
  foreignNames,
  foreignOf,
  hashAnnotationOf,
} from "../compatibility/peer-annotations.ts";
import { annotationMistakes } from "../policy/annotation-mistakes.ts";
import { type PolicyAnnotations, policyAnnotationsOf } from "../policy/policy-annotations.ts";
import {
  configHash,
  consecutiveRollouts,
  providerClasses,
  recordedConfigAnnotation,
  schedulingDisabled,
} from "../references/annotations.ts";
import { type Extras, extrasOf, noExtras } from "../references/extra-references.ts";
import { writersOf } from "../references/field-managers.ts";
import { type LimitExceeded, limits } from "../references/limits.ts";
import type { Reference } from "../references/references.ts";
import type { Warning } from "../references/warning.ts";
import { type Annotations, bytesOfWave, fingerprint } from "../references/wave-annotations.ts";
import { sharedString } from "../syntax/shared-string.ts";
import { quoted } from "../syntax/wording.ts";
import { standardForm, type TemplateSource, type WorkloadRow } from "./kind-row.ts";
import { isLeftPaused } from "./left-paused.ts";
import { hasOldFinalizer } from "./old-finalizer.ts";
import type { Progress } from "./progress.ts";
import { type RolledBy, recordsBeside, rolledByOf } from "./rollout-strategy.ts";
import type { WorkloadName } from "./workload-key.ts";
import { referencesOf, sourceOf, type WorkloadObject } from "./workload-references.ts";

export type { OptIn } from "../compatibility/opt-in.ts";
export type { TemplateSource, WorkloadKind, WorkloadRow } from "./kind-row.ts";
export { podsCarryHash, recordsBeside } from "./rollout-strategy.ts";
export { namespaceOf, parseWorkloadKey, type WorkloadName, workloadKey } from "./workload-key.ts";
export type { WorkloadObject } from "./workload-references.ts";

/** All that Wave needs to know of a workload; what caches keep. */
export interface Workload extends WorkloadName {
  /** Of its kind. */
  readonly row: WorkloadRow;
  /** "" while it is being created and has none yet. */
  readonly uid: string;
  /** 0 while it is being created and has none yet. */
  readonly generation: number;
  /** Of the object from which this was made, 0 where it has none: not older than anything here but `progress`. Not compared. */
  readonly resourceVersion: number;
  /** Whether it has a deletionTimestamp. */
  readonly deleting: boolean;
  readonly optIn: OptIn;
  /** What its Pods read, merged per object and way of reading, sorted; empty when it has not opted in. */
  readonly references: readonly Reference[];
  /**
   * The budget that it exceeds, so that its references are not known; undefined where it has not opted in, unless it is
   * the budget of its namespace.
   */
  readonly limitExceeded: LimitExceeded | undefined;
  /** Its annotations that name other objects, as they are written; undefined where they are absent. */
  readonly extras: Extras;
  /** All of its annotations that are Wave's, or a digest of them: equal where they are equal. */
  readonly annotations: string;
  /** What other dialects than Wave's ask for; undefined where none is understood. */
  readonly foreign: Foreign | undefined;
  readonly rolledBy: RolledBy;
  /** Whose pod template it has; undefined where that is its own. */
  readonly templateSource: TemplateSource | undefined;
  /** The annotation that has its hash, or is to have it. */
  readonly hashAnnotation: string;
  /** The hash that stands there. */
  readonly recordedHash: string | undefined;
  /** The annotation with its baseline, as it is written; undefined where there is none. */
  readonly recordedConfig: string | undefined;
  /** The annotation with the versions of SecretProviderClasses that its hash is of, as it is written; undefined where there is none. */
  readonly notedClasses: string | undefined;
  /** Whether it has annotations at all, whoever's; a JSON Patch needs to know. */
  readonly hasAnnotations: boolean;
  /** Whether its pod template has metadata at all: those of built-in kinds have labels, which their selectors match. */
  readonly hasTemplateMetadata: boolean;
  /** Whether its pod template has annotations at all. */
  readonly hasTemplateAnnotations: boolean;
  /** `spec.template.spec.schedulerName`. */
  readonly schedulerName: string | undefined;
  /** The scheduler to restore, from the annotation of the scheduling gate; undefined where there is none. */
  readonly disabledScheduler: string | undefined;
  /** Whether Stakater's Reloader left it paused. */
  readonly leftPaused: boolean;
  /** Whether the finalizer is on it that an old Wave or `--owner-references` puts there. */
  readonly oldFinalizer: boolean;
  /** What of its annotations was not understood. */
  readonly mistakes: readonly Warning[];
  /** What its annotations say of when it is rolled, as they are written. */
  readonly policy: PolicyAnnotations;
  /** How far its rollout is. */
  readonly progress: Progress;
  /** When field manager `wave` last changed something of it, seconds since the epoch; 0: never, or nothing of that is left. */
  readonly rolledAt: number;
  /** How many rolls in a row came with no quiet time between them, as Wave noted it; undefined where it noted nothing. */
  readonly streak: string | undefined;
  /** Which other field manager changed its spec or metadata last; undefined where there is none. */
  readonly editedBy: string | undefined;
}

/** An object is of a kind of workload, and yet is none: custom resources have what their definition lets through. */
export class MalformedWorkload extends Error {
  override readonly name = "MalformedWorkload";
}

/**
 * The slim form of a workload. It may lack its uid and generation, and its name where it has a generateName, as during
 * its creation. What its Namespace decides counts where that is known, and other dialects where they are understood.
 *
 * Throws a {@link MalformedWorkload} that names the object where it is none.
 */
export function toWorkload(row: WorkloadRow, object: WorkloadObject, asking: Asking = {}): Workload {
  const { namespace, name, generateName } = object.metadata ?? {};
  try {
    const templateSource = row.borrowing?.templateSourceOf(object);
    const isUnread = templateSource !== undefined && templateSource.generation === undefined;
    return slim(row, isUnread ? withNothing(object) : standardForm(row, object), asking, templateSource);
  } catch (cause) {
    const called = name ?? generateName ?? "";
    // A message of the run-time's own may quote what it stumbled over.
    const why = cause instanceof Error ? (cause.constructor === Error ? cause.message : cause.name) : "unknown";
    throw new MalformedWorkload(`${row.id} "${namespace ?? ""}/${called}" is malformed: ${why}`, { cause });
  }
}

/** The same, undefined where the object is malformed: nobody else is to go without an answer for it. */
export function workloadIfAny(row: WorkloadRow, object: WorkloadObject, asking: Asking = {}): Workload | undefined {
  try {
    return toWorkload(row, object, asking);
  } catch (error) {
    if (error instanceof MalformedWorkload) return undefined;
    throw error;
  }
}

/** How many characters of an annotation are kept where they are too many in all: more than any hash or scheduler has. */
export const mostKept = 300;

function slim(
  row: WorkloadRow,
  object: WorkloadObject,
  asking: Asking,
  templateSource: TemplateSource | undefined,
): Workload {
  const { metadata, spec } = object;
  if (metadata?.namespace === undefined) throw new Error("it has no metadata.namespace");
  if (metadata.name === undefined && metadata.generateName === undefined) throw new Error("it has no metadata.name");
  if (spec?.template?.spec === undefined)
    throw new Error(`it has no ${row.template.slice(1).replaceAll("/", ".")}.spec`);
  const annotations = metadata.annotations ?? {};
  const template = spec.template.metadata?.annotations;
  const { compatibility } = asking;
  const source = sourceOf(object);
  const others = foreignNames(compatibility?.understood);
  const bytes = bytesOfWave(annotations, others) + bytesOfWave(template ?? {}, others);
  const tooLong = bytes > limits.annotations.most;
  const madeBy = row.leavesControlled ? controllerOf(metadata) : undefined;
  const asked = madeBy === undefined ? askedOf(tooLong ? shortened(source) : source, asking) : [];
  const optIn: OptIn = madeBy === undefined ? optInOf(asked) : { state: "out", madeBy };
  const rolledBy = rolledByOf(row, templateSource, annotations, asking);
  const kept = (text: string | undefined) =>
    tooLong && text !== undefined && text.length > mostKept ? undefined : text;
  const { merged: references = [], limitExceeded } = tooLong
    ? { limitExceeded: { budget: "annotations", count: bytes } as const }
    : optIn.state === "in"
      ? referencesOf({ metadata, spec }, compatibility && asked.filter((each) => each.optIn.state === "in"), asking)
      : { merged: [] };
  const foreign = compatibility && foreignOf(tooLong ? {} : annotations, asked, compatibility);
  const isBeside = recordsBeside({ rolledBy });
  const withHash = isBeside ? annotations : (template ?? {});
  const hashAnnotation = isBeside
    ? configHash
    : hashAnnotationOf(withHash, foreign, foreignHash(compatibility?.understood));
  const recorded = kept(withHash[hashAnnotation]);
  const { byWaveAt, editedBy } = writersOf(metadata);
  return {
    kind: row.id,
    row,
    namespace: metadata.namespace,
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    generation: metadata.generation ?? 0,
    resourceVersion: Number(metadata.resourceVersion ?? 0),
    deleting: isDeleting(metadata),
    optIn,
    references,
    limitExceeded: optIn.state === "in" ? limitExceeded : undefined,
    extras: tooLong ? noExtras : extrasOf(annotations),
    annotations: fingerprint(annotations, others),
    foreign,
    rolledBy,
    templateSource,
    hashAnnotation,
    // The same string as that of the view which is remembered.
    recordedHash: recorded && sharedString(recorded),
    recordedConfig: kept(annotations[recordedConfigAnnotation]),
    notedClasses: kept(annotations[providerClasses]),
    hasAnnotations: metadata.annotations !== undefined && metadata.annotations !== null,
    hasTemplateMetadata: spec.template.metadata !== undefined && spec.template.metadata !== null,
    hasTemplateAnnotations: template !== undefined && template !== null,
    // A gate on a lender is the lender's own.
    schedulerName: templateSource === undefined ? spec.template.spec.schedulerName : undefined,
    disabledScheduler: kept(annotations[schedulingDisabled]),
    leftPaused: row.id === "Deployment" && optIn.state === "in" && isLeftPaused(object, compatibility),
    oldFinalizer: hasOldFinalizer(metadata),
    mistakes:
      tooLong || madeBy !== undefined
        ? []
        : [...mistakesOf(source, asked), ...(references.length > 0 ? keepingOf(row, object) : [])],
    policy: policyAnnotationsOf(annotations, "workload"),
    progress: row.progress(object, templateSource),
    rolledAt: byWaveAt,
    streak: kept(annotations[consecutiveRollouts]),
    editedBy,
  };
}

/** That what it reads would not be read anew. */
function keepingOf({ keepsContainers }: WorkloadRow, object: WorkloadObject): readonly Warning[] {
  const message = keepsContainers?.(object);
  return message === undefined ? [] : [{ reason: "InvalidAnnotation", message }];
}

/** With a pod template that reads nothing. */
function withNothing({ spec, ...object }: WorkloadObject): WorkloadObject {
  return { ...object, spec: { ...spec, template: { spec: { containers: [] } } } } as WorkloadObject;
}

/** Whether an object is being deleted. */
export function isDeleting({ deletionTimestamp }: ObjectMeta): boolean {
  return deletionTimestamp !== undefined && deletionTimestamp !== null;
}

/** What controls an object (https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/). */
function controllerOf({ ownerReferences }: ObjectMeta): string | undefined {
  const owner = ownerReferences?.find(({ controller }) => controller === true);
  return owner && `${quoted(owner.kind)} ${quoted(owner.name)}`;
}

/** As much of too long annotations as tells whether somebody opts in. */
function shortened({ namespace, annotations, templateAnnotations }: CompatibilitySource): CompatibilitySource {
  const short = (all: Annotations) =>
    Object.fromEntries(Object.entries(all).map(([name, text]) => [name, text.slice(0, mostKept)]));
  return { namespace, annotations: short(annotations), templateAnnotations: short(templateAnnotations) };
}

function mistakesOf(source: CompatibilitySource, asked: readonly Asked[]): readonly Warning[] {
  return [
    ...annotationMistakes(source.annotations, source.templateAnnotations),
    ...asked.flatMap(({ mistakes }) => mistakes),
    ...contradictions(source, asked),
  ];
}
