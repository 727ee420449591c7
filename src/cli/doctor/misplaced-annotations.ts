import { type PolicyAnnotation, policyRows, readValue } from "../../domain/policy/policy-rows.ts";
import { writtenByPeople } from "../../domain/policy/user-annotations.ts";
import { annotationPrefix } from "../../domain/references/annotations.ts";
import type { Annotations } from "../../domain/references/wave-annotations.ts";
import { editDistance } from "../../domain/syntax/edit-distance.ts";
import { quoted } from "../../domain/syntax/wording.ts";
import { rotateHashKey } from "../../manager/hash-key/hash-key-secret.ts";
import { closestName } from "../flags/nearest.ts";
import { type Finding, kubectlArguments, type ObjectRef, problem } from "./finding.ts";

/** What is written on an object; of a workload also on its pod template. */
export interface ObjectMetadataTexts {
  readonly annotations: Annotations;
  readonly labels: Annotations;
  readonly templateAnnotations?: Annotations;
}

/** How much of one object is told: somebody may have written thousands. */
const shown = 3;

/**
 * What was meant for Wave and never reaches it, so that Wave itself cannot warn of it: labels that ought to be annotations, and annotations
 * with another prefix than Wave's.
 */
export function misplacedAnnotations(place: ObjectRef, { annotations, labels, templateAnnotations = {} }: ObjectMetadataTexts): readonly Finding[] {
  return [
    ...first(labels, place, (name, value) => asLabel(place, name, value)),
    ...first(annotations, place, (name, value) => asMisspelt(place, name, value)),
    ...first(templateAnnotations, place, (name, value) => onTemplate(place, name, value)),
  ];
}

/**
 * Annotations of Wave that mean nothing where they stand, or have a value that is none: on a Namespace, or a ConfigMap or Secret. Those
 * of workloads are told by their plan.
 */
export function misusedAnnotations(on: "namespace" | "config", place: ObjectRef, annotations: Annotations): readonly Finding[] {
  return first(annotations, place, (name, value) => {
    if (!name.startsWith(annotationPrefix) || name === rotateHashKey) return undefined;
    const short = name.slice(annotationPrefix.length);
    const edit = `kubectl edit ${kubectlArguments(place)}`;
    const row = Object.hasOwn(writtenByPeople, short) ? writtenByPeople[short] : undefined;
    if (row === undefined || !row.places.includes(on)) {
      const meant = row === undefined ? closestName(short, namesOf(on)) : undefined;
      const why = row === undefined ? "is not known" : `has no effect on a ${place.kind}`;
      const hint = meant === undefined ? "" : `; did you mean ${annotationPrefix}${meant}?`;
      return problem(place, `annotation ${quoted(name)} ${why}${hint}`, edit);
    }
    if (isReadable(short, value)) return undefined;
    return problem(place, `annotation ${name}: ${quoted(value)} is not ${row.allowed}`, edit);
  });
}

function isReadable(name: string, value: string): boolean {
  if (value.trim() === "" || name === "shared-with") return true;
  if (Object.hasOwn(policyRows, name)) return readValue(name as PolicyAnnotation, value) !== undefined;
  return value === "true" || value === "false";
}

function first(
  all: Annotations,
  place: ObjectRef,
  look: (name: string, value: string) => Finding | undefined,
): readonly Finding[] {
  const found: Finding[] = [];
  for (const [name, value] of Object.entries(all)) {
    const one = look(name, value);
    if (one === undefined) continue;
    // Nobody looks at the rest before these are put right, and to tell what was meant by each costs.
    if (found.length === shown)
      return [...found, problem(place, "more like these", `kubectl edit ${kubectlArguments(place)}`)];
    found.push(one);
  }
  return found;
}

function asLabel(place: ObjectRef, name: string, value: string): Finding | undefined {
  const right = name.startsWith(annotationPrefix) ? name : intendedAnnotation(name);
  if (right === undefined) return undefined;
  const what = `label ${quoted(name)} does nothing: Wave reads annotations`;
  const object = kubectlArguments(place);
  return problem(place, what, `kubectl annotate ${object} ${right}=${value} && kubectl label ${object} ${name}-`);
}

function asMisspelt(place: ObjectRef, name: string, value: string): Finding | undefined {
  const right = intendedAnnotation(name);
  if (right === undefined) return undefined;
  const what = `annotation ${quoted(name)} does nothing; did you mean ${right}?`;
  return problem(place, what, `kubectl annotate ${kubectlArguments(place)} ${right}=${shellWord(value)} ${name}-`);
}

function onTemplate(place: ObjectRef, name: string, value: string): Finding | undefined {
  const right = intendedAnnotation(name);
  if (right === undefined) return undefined;
  const what = `annotation ${quoted(name)} of the pod template does nothing; did you mean ${right} on the workload?`;
  return problem(place, what, `kubectl annotate ${kubectlArguments(place)} ${right}=${shellWord(value)}`);
}

function shellWord(value: string): string {
  return /^[\w.:/@%+=,-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}

/** The annotation of Wave that somebody meant by another name; undefined where it is Wave's, or somebody else's. */
export function intendedAnnotation(written: string): string | undefined {
  if (written.startsWith(annotationPrefix) || written.length > longest) return undefined;
  const slash = written.lastIndexOf("/");
  const [prefix, name] = [written.slice(0, slash + 1), written.slice(slash + 1)];
  if (isNearPrefix(prefix)) return annotationPrefix + (closestName(name, allNames) ?? name);
  const itsName = distinctive.includes(name) && (prefix === "" || /wave|pusher/.test(prefix));
  return itsName ? annotationPrefix + name : undefined;
}

/** Nearly all that is written on objects is somebody else's, and of another length: that costs nothing. */
function isNearPrefix(prefix: string): boolean {
  if (Math.abs(prefix.length - annotationPrefix.length) > mostEdits) return false;
  return editDistance(prefix, annotationPrefix) <= mostEdits;
}

/** Such as another end of the domain. Names of others are further away. */
const mostEdits = 4;
/** Nothing longer is a slip of the pen, and comparing costs its length. */
const longest = 80;

const allNames = Object.keys(writtenByPeople);
/** Names that nobody else has: `hold` or `mode` may be anybody's. */
const distinctive = allNames.filter((name) => name.includes("-config") || name.includes("-secrets"));

function namesOf(on: "namespace" | "config"): readonly string[] {
  return allNames.filter((name) => writtenByPeople[name]?.places.includes(on));
}
