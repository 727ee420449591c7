import type { Compatibility } from "../compatibility/directive.ts";
import { peerAnnotationNames } from "../compatibility/directives.ts";
import { workloadNames } from "../policy/annotation-mistakes.ts";
import type { PolicyAnnotations } from "../policy/policy-rows.ts";
import {
  type Annotations,
  annotationPrefix,
  causeAnnotation,
  configDiffered,
  configDigests,
  configHash,
  stateAnnotation,
  writtenByWave,
} from "../references/annotations.ts";
import { boundedMemo } from "../syntax/json.ts";

/** The annotations that Wave writes although no plan depends on them. */
const notes: readonly string[] = [configDiffered, configDigests, causeAnnotation, stateAnnotation];

const waveNames: readonly string[] = [
  ...workloadNames.map((name) => annotationPrefix + name),
  ...writtenByWave.filter((name) => !notes.includes(name)),
  configHash,
];

/** Returns the names of the annotations in the metadata of a workload that its plan may depend on, present or not. */
export function plannedNames(understood?: readonly Compatibility[]): readonly string[] {
  return [...waveNames, ...peerAnnotationNames(understood)];
}

/** Returns the annotations of {@link plannedNames} that are present. Thousands of workloads have the same few short values, and share them. */
export function plannedAnnotations(annotations: Annotations, understood?: readonly Compatibility[]): Annotations {
  const present = plannedNames(understood).filter((name) => annotations[name] !== undefined);
  const values = Object.fromEntries(present.map((name) => [name, annotations[name] ?? ""]));
  const json = JSON.stringify(values);
  return json.length <= maxSharedLength ? sharedValues(json) : values;
}

/** Limit of values that are shared, in characters of JSON. Longer values are rarely equal. */
const maxSharedLength = 200;
const sharedValues = boundedMemo(256, (json) => JSON.parse(json) as Annotations);

/** Limit of the characters that are kept of an annotation if all of them together are too long. No hash or scheduler is longer. */
export const maxKeptLength = 300;

/** Returns the annotations without those that are longer than {@link maxKeptLength}. */
export function withShortValues<A extends Annotations | PolicyAnnotations>(annotations: A): A {
  return Object.fromEntries(Object.entries(annotations).filter(([, text]) => text.length <= maxKeptLength)) as A;
}
