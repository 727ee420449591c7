import type { Compatibility } from "../../../domain/compatibility/directive.ts";
import { standardForm, type WorkloadRow } from "../../../domain/model/kind-row.ts";
import { isSchedulingHeld, oldFinalizerWarning } from "../../../domain/model/scheduling-hold.ts";
import { MalformedWorkload, toWorkload } from "../../../domain/model/workload.ts";
import { compatibilitySourceOf, type WorkloadObject } from "../../../domain/model/workload-references.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { planRollout } from "../../../domain/plan/plan.ts";
import {
  type AnnotatedObject,
  misplacedLabels,
  misuseOf,
  userAnnotations,
} from "../../../domain/policy/annotation-mistakes.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import { rulesFor } from "../../../domain/policy/rules.ts";
import {
  type Annotations,
  annotationPrefix,
  labelsOfCreated,
  updateOnConfigChange,
  workloadFirst,
} from "../../../domain/references/annotations.ts";
import type { StoredKind } from "../../../domain/references/references.ts";
import { invalidAnnotationTexts } from "../../../domain/references/warning.ts";
import { closestName, editDistance, quoted } from "../../../domain/syntax/names.ts";
import type { KubeObject } from "../../../kube/api/resources.ts";
import { docsAddress } from "../../command/help.ts";
import { sentences } from "../../output/sentences.ts";
import { type Finding, kubectlArguments, type ObjectRef, problem, warning } from "./finding.ts";

/** The findings about one object: mistakes in its annotations and labels, and leftovers. */
export interface ObjectFindings {
  readonly mistakes: readonly Finding[];
  /** What earlier controllers or earlier versions of Wave left behind. */
  readonly leftovers: readonly Finding[];
  /** Other controllers whose annotations a workload also has that opts in to Wave. */
  readonly otherControllers: readonly OtherCompatibility[];
}

/** What annotation names of other controllers contain. */
const otherCompatibility = { sap: "pod-reloader.cs.sap.com/", stakater: "reloader.stakater.com/" } as const;

/** Another controller whose annotations Wave can understand. */
type OtherCompatibility = keyof typeof otherCompatibility;

/** The findings about nearly every object, shared to save memory. */
const nothing: ObjectFindings = { mistakes: [], leftovers: [], otherControllers: [] };

/** Returns the findings about the annotations and labels of a workload; scheduling holds that are left over only with `policy`. */
export function workloadFindings(row: WorkloadRow, object: WorkloadObject, policy: Policy): ObjectFindings {
  const { namespace = null, name = "" } = object.metadata ?? {};
  const ref: ObjectRef = { kind: row.id, namespace, name };
  let workload: Workload;
  try {
    workload = toWorkload(row, object, policy);
  } catch (error) {
    if (!(error instanceof MalformedWorkload)) throw error;
    if (!optsIn(object)) return nothing;
    const what = sentences(error.message, "Wave does not roll the workload");
    return { ...nothing, mistakes: [problem(ref, what, `kubectl edit ${kubectlArguments(ref)}`)] };
  }
  const standard = standardForm(row, object);
  const findings = {
    mistakes: mistakesOnWorkload(ref, workload, standard, policy),
    leftovers: leftoversOn(ref, workload, policy),
    otherControllers: controllersIn(workload, standard),
  };
  return Object.values(findings).every((each) => each.length === 0) ? nothing : findings;
}

/** A malformed workload matters only if it opts in. */
function optsIn(object: WorkloadObject): boolean {
  return workloadFirst(compatibilitySourceOf(object), updateOnConfigChange).value === "true";
}

/** Returns the findings about the metadata of a Namespace, ConfigMap or Secret. */
export function metadataFindings(
  kind: "Namespace" | StoredKind,
  { metadata }: KubeObject,
  understood?: readonly Compatibility[],
): ObjectFindings {
  const { namespace = null, name, annotations = {}, labels = {} } = metadata;
  const place: ObjectRef = { kind, namespace, name };
  const on = kind === "Namespace" ? "namespace" : "config";
  const mistakes = [
    ...misplacedAnnotations(place, { annotations, labels }),
    ...misusedAnnotations(on, place, annotations, understood),
  ];
  return mistakes.length === 0 ? nothing : { ...nothing, mistakes };
}

function mistakesOnWorkload(
  place: ObjectRef,
  workload: Workload,
  object: WorkloadObject,
  policy: Policy,
): readonly Finding[] {
  const { annotations, templateAnnotations } = compatibilitySourceOf(object);
  const { labels = {} } = object.metadata ?? {};
  // The findings about labels have a command that corrects them.
  const aboutLabels = new Set(misplacedLabels(labels).map(invalidAnnotationTexts.label));
  const unclear = workload.optIn.state === "unclear";
  const warnings = unclear
    ? planRollout(workload, () => undefined, rulesFor(workload, policy)).warnings
    : workload.mistakes;
  return [
    ...misplacedAnnotations(place, { annotations, labels, templateAnnotations }),
    ...warnings
      .filter(({ message }) => !aboutLabels.has(message))
      .map(({ message }) => problem(place, sentences(message), `kubectl edit ${kubectlArguments(place)}`)),
  ];
}

function leftoversOn(
  place: ObjectRef,
  workload: Workload,
  { namespacePolicyOf, ownership }: Policy,
): readonly Finding[] {
  const found: Finding[] = [];
  if (workload.oldFinalizer && ownership === undefined) {
    const migrate = `Run Wave once with --migrate-legacy: ${docsAddress("gitops", "owner-references")}`;
    found.push(warning(place, sentences(oldFinalizerWarning.message), migrate));
  }
  if (namespacePolicyOf !== undefined && workload.optIn.state !== "in" && isSchedulingHeld(workload)) {
    const what =
      "New Pods stay pending, because a scheduling hold of Wave is left over. Wave removes the hold when Wave runs.";
    found.push(problem(place, what, `wave release --scheduling-holds -n ${place.namespace}`));
  }
  return found;
}

function controllersIn({ optIn }: Workload, object: WorkloadObject): readonly OtherCompatibility[] {
  if (optIn.state !== "in" || optIn.by === "compatibility") return [];
  const { annotations, templateAnnotations } = compatibilitySourceOf(object);
  const names = [...Object.keys(annotations), ...Object.keys(templateAnnotations)];
  return (Object.keys(otherCompatibility) as OtherCompatibility[]).filter((compatibility) =>
    names.some((name) => name.includes(otherCompatibility[compatibility])),
  );
}

/** The annotations and labels of an object, and of its pod template if it is a workload. */
interface ObjectMetadataTexts {
  readonly annotations: Annotations;
  readonly labels: Annotations;
  readonly templateAnnotations?: Annotations;
}

/** How many findings one object can have, of annotations and of labels: a tenant may write thousands. */
const mostFindings = 3;

/** Finds what was meant for Wave but never reaches it: labels, misspelt prefixes, and annotations on the pod template. */
export function misplacedAnnotations(
  place: ObjectRef,
  { annotations, labels, templateAnnotations = {} }: ObjectMetadataTexts,
): readonly Finding[] {
  return [
    ...first(labels, place, (name, value) => asLabel(place, name, value)),
    ...first(annotations, place, (name, value) => asMisspelt(place, name, value)),
    ...first(templateAnnotations, place, (name, value) => onTemplate(place, name, value, annotations)),
  ];
}

/** Finds annotations on a Namespace, ConfigMap or Secret that have no effect there or have an invalid value. */
export function misusedAnnotations(
  on: AnnotatedObject["on"],
  place: ObjectRef,
  annotations: Annotations,
  understood: readonly Compatibility[] = [],
): readonly Finding[] {
  const object = { on, kind: place.kind, understood };
  return first(annotations, place, (name, value) => {
    const what = misuseOf(object, name, value);
    return what === undefined ? undefined : problem(place, what, `kubectl edit ${kubectlArguments(place)}`);
  });
}

function first(
  all: Annotations,
  place: ObjectRef,
  findingOn: (name: string, value: string) => Finding | undefined,
): readonly Finding[] {
  const found: Finding[] = [];
  for (const [name, value] of Object.entries(all)) {
    const one = findingOn(name, value);
    if (one === undefined) continue;
    // The rest waits until these are fixed: to find what each name means costs time.
    if (found.length === mostFindings) {
      const more = "The object has more annotations or labels with such problems.";
      return [...found, problem(place, more, `kubectl edit ${kubectlArguments(place)}`)];
    }
    found.push(one);
  }
  return found;
}

function asLabel(place: ObjectRef, name: string, value: string): Finding | undefined {
  const right = name.startsWith(annotationPrefix) ? name : intendedAnnotation(name);
  if (right === undefined || labelsOfCreated.includes(name)) return undefined;
  const what = `Label ${quoted(name)} has no effect. Wave reads annotations, not labels.`;
  const object = kubectlArguments(place);
  return problem(place, what, `kubectl annotate ${object} ${right}=${value} && kubectl label ${object} ${name}-`);
}

function asMisspelt(place: ObjectRef, name: string, value: string): Finding | undefined {
  const right = intendedAnnotation(name);
  if (right === undefined) return undefined;
  const what = `Annotation ${quoted(name)} has no effect. Did you mean ${right}?`;
  return problem(place, what, `kubectl annotate ${kubectlArguments(place)} ${right}=${shellWord(value)} ${name}-`);
}

function onTemplate(place: ObjectRef, name: string, value: string, own: Annotations): Finding | undefined {
  const right = intendedAnnotation(name);
  if (right === undefined || Object.hasOwn(own, right)) return undefined;
  const what = `Annotation ${quoted(name)} on the pod template has no effect. Did you mean ${right} on the workload?`;
  return problem(place, what, `kubectl annotate ${kubectlArguments(place)} ${right}=${shellWord(value)}`);
}

function shellWord(value: string): string {
  return /^[\w.:/@%+=,-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}

/** Returns the annotation of Wave that a misspelt name means; undefined if the name is correct or belongs to another tool. */
export function intendedAnnotation(written: string): string | undefined {
  if (written.startsWith(annotationPrefix) || written.length > longest) return undefined;
  const slash = written.lastIndexOf("/");
  const [prefix, name] = [written.slice(0, slash + 1), written.slice(slash + 1)];
  if (isNearPrefix(prefix)) return annotationPrefix + (closestName(name, allNames) ?? name);
  const isName = distinctive.includes(name) && (prefix === "" || /wave|pusher/.test(prefix));
  return isName ? annotationPrefix + name : undefined;
}

/** Reports whether a prefix is a misspelt prefix of Wave. Most prefixes differ in length, so the check is cheap. */
function isNearPrefix(prefix: string): boolean {
  if (Math.abs(prefix.length - annotationPrefix.length) > mostEdits) return false;
  return editDistance(prefix, annotationPrefix) <= mostEdits;
}

/** Enough for another top-level domain. Prefixes of other tools differ more. */
const mostEdits = 4;
/** In characters: a longer name is no misspelling, and the cost of the comparison grows with the length. */
const longest = 80;

const allNames = Object.keys(userAnnotations);
/** Names that only Wave uses. Names such as `hold` or `mode` may belong to any tool. */
const distinctive = allNames.filter((name) => name.includes("-config") || name.includes("-secrets"));
