import type { Compatibility } from "../../../domain/compatibility/directive.ts";
import { type AnnotatedObject, misuseOf } from "../../../domain/policy/misused-annotations.ts";
import { userAnnotations } from "../../../domain/policy/user-annotations.ts";
import { annotationPrefix, labelsOfCreated } from "../../../domain/references/annotations.ts";
import type { Annotations } from "../../../domain/references/wave-annotations.ts";
import { closestName, editDistance } from "../../../domain/syntax/closest-name.ts";
import { quoted } from "../../../domain/syntax/wording.ts";
import { type Finding, kubectlArguments, type ObjectRef, problem } from "./finding.ts";

/** The annotations and labels of an object, and of its pod template if it is a workload. */
interface ObjectMetadataTexts {
  readonly annotations: Annotations;
  readonly labels: Annotations;
  readonly templateAnnotations?: Annotations;
}

/** How many findings one object can have, of annotations and of labels: a tenant may write thousands. */
const mostFindings = 3;

/**
 * Finds what was meant for Wave but never reaches it, so that Wave itself cannot warn: labels that should be annotations, annotations with
 * a misspelt prefix, and annotations on the pod template.
 */
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
    if (found.length === mostFindings)
      return [
        ...found,
        problem(
          place,
          "The object has more annotations or labels with such problems.",
          `kubectl edit ${kubectlArguments(place)}`,
        ),
      ];
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
