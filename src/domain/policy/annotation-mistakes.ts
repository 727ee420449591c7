import {
  annotationPrefix,
  configHash,
  labelsOfCreated,
  replacedJob,
  writtenByWave,
  writtenOnTemplates,
} from "../references/annotations.ts";
import type { Warning } from "../references/warning.ts";
import { invalidAnnotationTexts } from "../references/warning-texts.ts";
import { type Annotations, type WorkloadAnnotations, waveAnnotationNames } from "../references/wave-annotations.ts";
import { editDistance } from "../syntax/closest-name.ts";
import { formatCount } from "../syntax/wording.ts";
import { noPolicy, type PolicyAnnotations } from "./policy-annotations.ts";
import { type AnnotationPlace, policyAnnotations, policyRows, readPolicyValue } from "./policy-rows.ts";
import { userAnnotations } from "./user-annotations.ts";

/** Limit of annotations in each place that get their own message. */
const maxShown = 3;

/**
 * Returns warnings for Wave annotations that are invalid, have no effect in their place, or have an unknown name, and for labels with such a
 * name. The first few get their own message with a correction. The others are counted.
 */
export function annotationMistakes(
  { annotations, templateAnnotations }: WorkloadAnnotations,
  labels: Annotations,
  policy: PolicyAnnotations,
): readonly Warning[] {
  // The hash on the workload itself has no effect, but people do not write it by mistake.
  const unknown = waveAnnotationNames(annotations).filter((name) => !known.includes(name) && name !== configHash);
  const misplaced = waveAnnotationNames(templateAnnotations).filter((name) => !onTemplate.includes(name));
  return [
    ...invalidValues(policy),
    ...firstFew(unknown, mistakeOnWorkload, invalidAnnotationTexts.moreUnknown),
    ...firstFew(misplaced, mistakeOnTemplate, invalidAnnotationTexts.moreOnTemplate),
    ...firstFew(misplacedLabels(labels), invalidAnnotationTexts.label, invalidAnnotationTexts.moreLabels),
  ].map((message) => ({ reason: "InvalidAnnotation", message }));
}

/** Returns the names of labels that are annotations of Wave. */
export function misplacedLabels(labels: Annotations): readonly string[] {
  return waveAnnotationNames(labels).filter((name) => !labelsOfCreated.includes(name));
}

function firstFew(
  names: readonly string[],
  describe: (name: string) => string,
  describeRest: (count: string) => string,
): readonly string[] {
  const rest = names.length - maxShown;
  const shown = names.slice(0, maxShown).map(describe);
  return rest > 0 ? [...shown, describeRest(formatCount(rest))] : shown;
}

function mistakeOnWorkload(name: string): string {
  if (onConfigs.includes(name)) return invalidAnnotationTexts.onlyOnConfig(name);
  const meant = nearest(name);
  if (meant !== undefined) return invalidAnnotationTexts.misspelt(name, meant);
  return invalidAnnotationTexts.unknown(name, annotationPrefix, workloadNames.join(", "));
}

function mistakeOnTemplate(name: string): string {
  return known.includes(name) ? invalidAnnotationTexts.onTemplate(name) : mistakeOnWorkload(name);
}

/** The annotations that people write on a workload, without prefix, and those that apply only to a ConfigMap or Secret. */
const workloadNames = namesOn("workload");
const onConfigs = namesOn("config")
  .filter((name) => !workloadNames.includes(name))
  .map((name) => annotationPrefix + name);

/** The annotations that have an effect on a pod template. */
const onTemplate = [...namesOn("template").map((name) => annotationPrefix + name), ...writtenOnTemplates];

function namesOn(place: AnnotationPlace): readonly string[] {
  return Object.keys(userAnnotations).filter((name) => userAnnotations[name]?.places.includes(place));
}

/** Every annotation that has an effect on a workload, or on the record of a Job that is being replaced. */
const known: readonly string[] = [
  ...workloadNames.map((name) => annotationPrefix + name),
  ...writtenByWave,
  replacedJob,
];

/** Limit of the length of a name for which Wave suggests a known name. */
const maxSuggestionLength = 80;

/** Returns the known name that was probably meant: at most a third of it, without its prefix, differs. */
function nearest(name: string): string | undefined {
  if (name.length > maxSuggestionLength) return undefined;
  const near = known.map((candidate) => ({ candidate, distance: editDistance(name, candidate) }));
  const best = near.reduce((first, other) => (other.distance < first.distance ? other : first));
  return best.distance <= (best.candidate.length - annotationPrefix.length) / 3 ? best.candidate : undefined;
}

/** Returns a message for each policy annotation of a workload with an invalid value. */
function invalidValues(policy: PolicyAnnotations): readonly string[] {
  if (policy === noPolicy) return [];
  return policyAnnotations.flatMap((name) => {
    const text = policy[name];
    if (text === undefined || text.trim() === "" || readPolicyValue(name, text) !== undefined) return [];
    const { allowed, holdsIfInvalid } = policyRows[name];
    const describe = holdsIfInvalid ? invalidAnnotationTexts.holdingValue : invalidAnnotationTexts.ignoredValue;
    return [describe(annotationPrefix + name, text, allowed)];
  });
}
