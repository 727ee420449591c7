import type { Compatibility, CompatibilitySettings } from "../compatibility/directive.ts";
import { peerAnnotationRows } from "../compatibility/directives.ts";
import { isMarked, stakaterIgnore } from "../compatibility/stakater.ts";
import {
  type Annotations,
  annotationPrefix,
  configHash,
  labelsOfCreated,
  replacedJob,
  rotateHashKey,
  type WorkloadAnnotations,
  waveAnnotationNames,
  writtenByWave,
  writtenOnCopies,
  writtenOnTemplates,
} from "../references/annotations.ts";
import { invalidAnnotationTexts, misusedAnnotationTexts as texts } from "../references/warning.ts";
import { closestName, editDistance, formatCount, isDnsLabel, splitList } from "../syntax/names.ts";
import {
  type AnnotationPlace,
  noPolicy,
  type PolicyAnnotation,
  type PolicyAnnotations,
  policyAnnotations,
  policyRows,
  readPolicyValue,
} from "./policy-rows.ts";

/** An annotation that people write. docs/annotations.md has these fields, and the effect. */
interface UserAnnotation {
  readonly places: readonly AnnotationPlace[];
  /** The allowed values, as text for people. */
  readonly allowed: string;
}

/** Every annotation that people write, by name without prefix, in the order of docs/annotations.md. */
export const userAnnotations: Readonly<Record<string, UserAnnotation>> = {
  "update-on-config-change": { places: ["workload", "template", "namespace"], allowed: '"true" or "false"' },
  "extra-configmaps": { places: ["workload", "template"], allowed: "name or namespace/name, separated by commas" },
  "extra-secrets": { places: ["workload", "template"], allowed: "name or namespace/name, separated by commas" },
  ...policyRows,
  "allow-workload-ref": { places: ["workload"], allowed: '"true"' },
  "hold-cluster": { places: ["namespace"], allowed: 'a reason, or "true"' },
  ignore: { places: ["config"], allowed: '"true" or "false"' },
  "shared-with": { places: ["config"], allowed: 'namespaces, separated by commas, or "*"' },
  "allow-copy-changes": { places: ["namespace"], allowed: '"true"' },
};

/** Limit of annotations in each place that get their own message. */
const maxShown = 3;

/**
 * Returns messages about Wave annotations that are invalid, have no effect in their place, or have an unknown name, and about labels with such a
 * name. The first few get their own message with a correction. The others are counted.
 */
export function annotationMistakes(
  { annotations, templateAnnotations }: WorkloadAnnotations,
  labels: Annotations,
  policy: PolicyAnnotations,
): readonly string[] {
  // The hash on the workload itself has no effect, but people do not write it by mistake.
  const unknown = waveAnnotationNames(annotations).filter((name) => !known.includes(name) && name !== configHash);
  const misplaced = waveAnnotationNames(templateAnnotations).filter((name) => !onTemplate.includes(name));
  return [
    ...invalidValues(policy),
    ...firstFew(unknown, mistakeOnWorkload, invalidAnnotationTexts.moreUnknown),
    ...firstFew(misplaced, mistakeOnTemplate, invalidAnnotationTexts.moreOnTemplate),
    ...firstFew(misplacedLabels(labels), invalidAnnotationTexts.label, invalidAnnotationTexts.moreLabels),
  ];
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

/** The annotations that people write on a workload, without prefix. */
export const workloadNames = namesOn("workload");

/** The annotations that apply only to a ConfigMap or Secret. */
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

/** An object that is not a workload, on which people write annotations. */
export interface AnnotatedObject {
  readonly on: "namespace" | "config";
  readonly kind: string;
  /** The other controllers whose annotations Wave reads. */
  readonly understood: readonly Compatibility[];
}

/**
 * Returns a message about an annotation of a Namespace, ConfigMap or Secret that has no effect there or has an invalid value; undefined if it
 * has an effect, or belongs to another tool. Plans report such annotations of workloads.
 */
export function misuseOf(object: AnnotatedObject, name: string, value: string): string | undefined {
  return name.startsWith(annotationPrefix) ? misuseOfOwn(object, name, value) : misuseOfPeer(object, name, value);
}

function misuseOfOwn({ on, kind }: AnnotatedObject, name: string, value: string): string | undefined {
  if (name === rotateHashKey || writtenOnCopies.includes(name)) return undefined;
  const short = name.slice(annotationPrefix.length);
  const row = Object.hasOwn(userAnnotations, short) ? userAnnotations[short] : undefined;
  if (row === undefined) {
    const meant = closestName(short, namesOn(on));
    return texts.unknown(name, meant && annotationPrefix + meant);
  }
  if (!row.places.includes(on)) return texts.noEffect(name, kind, row.places.includes("workload"));
  return isReadable(short, value) ? undefined : texts.invalid(name, value, row.allowed);
}

function misuseOfPeer({ on, kind, understood }: AnnotatedObject, name: string, value: string): string | undefined {
  const rows = peerAnnotationRows(understood).filter((row) => row.name === name);
  const [row] = rows;
  if (row === undefined) return undefined;
  const here = on === "config" ? rows.find(({ on: places }) => places.includes("config")) : undefined;
  if (here === undefined) return texts.noEffect(name, kind, row.on.includes("workload"));
  return (here.accepts?.(value) ?? true) ? undefined : texts.invalid(name, value, here.values);
}

function isReadable(name: string, value: string): boolean {
  if (value.trim() === "") return true;
  if (name === "shared-with") return splitList(value).every((each) => each === "*" || isDnsLabel(each));
  if (Object.hasOwn(policyRows, name)) return readPolicyValue(name as PolicyAnnotation, value) !== undefined;
  return value === "true" || value === "false";
}

/** How many annotations and labels of one object a message names: a tenant may write thousands. */
const mostNamed = 2;

/** Returns one message about annotations and labels of a ConfigMap or Secret that have no effect there; undefined if there are none. */
export function misusesOf(
  object: AnnotatedObject,
  { annotations, labels }: { readonly annotations?: Annotations | null; readonly labels?: Annotations | null },
): string | undefined {
  // An iterator stops at the limit: each message takes a comparison with all known names.
  const misused = Object.keys(annotations ?? {})
    .values()
    .map((name) => misuseOf(object, name, `${annotations?.[name]}`))
    .filter((message) => message !== undefined)
    .take(mostNamed);
  const mislabelled = misplacedLabels(labels ?? {}).map((name) => texts.label(name, object.kind));
  const found = [...misused, ...mislabelled].slice(0, mostNamed);
  return found.length === 0 ? undefined : found.join(" ");
}

/**
 * What a ConfigMap or Secret requests for its readers. "hold": no rollout for now. "ignore": no workload tracks the object. "unclear":
 * one of the two annotations is neither "true" nor "false", so that no workload rolls for the object until someone corrects it.
 * "unselected": flags filter the object out, whatever its annotations are.
 */
export type ConfigDirective = "hold" | "ignore" | "unclear" | "unselected";

/**
 * Returns what the annotations `ignore` and `hold` of a ConfigMap or Secret request, including those of the enabled compatibilities.
 * Returns undefined if they request nothing.
 */
export function readConfigDirective(
  annotations: Readonly<Record<string, string>> | null | undefined,
  compatibility?: CompatibilitySettings,
): ConfigDirective | undefined {
  if (isMarked(annotations, stakaterIgnore, compatibility)) return "ignore";
  const ignore = readSwitch(annotations?.[`${annotationPrefix}ignore`]);
  const hold = readSwitch(annotations?.[`${annotationPrefix}hold`]);
  if (ignore === "yes") return "ignore";
  if (ignore === "unclear" || hold === "unclear") return "unclear";
  return hold === "yes" ? "hold" : undefined;
}

/** Returns who holds changes of a ConfigMap or Secret, and why; "" if that is unknown. A longer text is cut, because anyone may write it. */
export function readHoldReason(annotations: Readonly<Record<string, string>> | null | undefined): string {
  return (annotations?.[`${annotationPrefix}hold-reason`] ?? "").slice(0, policyRows["hold-reason"].maxLength).trim();
}

function readSwitch(text: string | undefined): "yes" | "no" | "unclear" {
  switch (text?.trim()) {
    case "true":
      return "yes";
    case undefined:
    case "":
    case "false":
      return "no";
    default:
      return "unclear";
  }
}
