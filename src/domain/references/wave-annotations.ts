import { hash } from "node:crypto";
import { sharedString } from "../syntax/shared-string.ts";
import { annotationPrefix } from "./annotations.ts";

/** The annotations of an object, by name. */
export type Annotations = Readonly<Record<string, string>>;

/** The annotations of a workload and of its pod template. */
export interface WorkloadAnnotations {
  readonly annotations: Annotations;
  readonly templateAnnotations: Annotations;
}

/** Returns the value of an annotation, and the path of the metadata that have it. The workload comes first, then its pod template. */
export function workloadFirst({ annotations, templateAnnotations }: WorkloadAnnotations, name: string) {
  const value = annotations[name];
  if (value !== undefined) return { value, metadata: "metadata" };
  return { value: templateAnnotations[name], metadata: "spec.template.metadata" };
}

/** Returns the sorted names of the Wave annotations among `annotations`. */
export function waveAnnotationNames(annotations: Annotations): readonly string[] {
  return Object.keys(annotations)
    .filter((name) => name.startsWith(annotationPrefix))
    .sort();
}

/** Returns the size of the Wave annotations and of the annotations with `others` as names: bytes of names and values. */
export function waveAnnotationBytes(annotations: Annotations, others: readonly string[] = []): number {
  const bytes = (text: unknown) => (typeof text === "string" ? Buffer.byteLength(text) : 0);
  return readNames(annotations, others).reduce((sum, name) => sum + bytes(name) + bytes(annotations[name]), 0);
}

function readNames(annotations: Annotations, others: readonly string[]): readonly string[] {
  const names = waveAnnotationNames(annotations);
  return others.length === 0 ? names : [...names, ...others.filter((name) => annotations[name] !== undefined)];
}

/** Limit of a fingerprint that is plain text: longer than a digest, and much longer than a plain opt-in, which thousands share. */
const maxPlainLength = 200;

/**
 * Returns a short text that identifies the Wave annotations and the annotations with `others` as names. Two sets of annotations have
 * the same fingerprint only if these names and values are the same.
 */
export function fingerprint(annotations: Annotations, others: readonly string[] = []): string {
  const text = JSON.stringify(readNames(annotations, others).map((name) => [name, annotations[name]]));
  return text.length <= maxPlainLength ? sharedString(text) : hash("sha256", text, "base64");
}
