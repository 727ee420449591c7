import { hash } from "node:crypto";
import { sharedString } from "../syntax/shared-string.ts";
import { annotationPrefix } from "./annotations.ts";

/** The annotations of an object. */
export type Annotations = Readonly<Record<string, string>>;

/** The names of those that are Wave's, sorted. */
export function waveNames(annotations: Annotations): readonly string[] {
  return Object.keys(annotations)
    .filter((name) => name.startsWith(annotationPrefix))
    .sort();
}

/** How many bytes they take, names and values, with those of some other names. */
export function bytesOfWave(annotations: Annotations, others: readonly string[] = []): number {
  const bytes = (text: unknown) => (typeof text === "string" ? Buffer.byteLength(text) : 0);
  return readNames(annotations, others).reduce((sum, name) => sum + bytes(name) + bytes(annotations[name]), 0);
}

function readNames(annotations: Annotations, others: readonly string[]): readonly string[] {
  const names = waveNames(annotations);
  return others.length === 0 ? names : [...names, ...others.filter((name) => annotations[name] !== undefined)];
}

/** Longer than a digest and much longer than a plain opt-in, which thousands have and share. */
const longest = 200;

/**
 * A short text that is the same for those of Wave's annotations, and those of some other names, that are the same, and for
 * no others.
 */
export function fingerprint(annotations: Annotations, others: readonly string[] = []): string {
  const text = JSON.stringify(readNames(annotations, others).map((name) => [name, annotations[name]]));
  return text.length <= longest ? sharedString(text) : hash("sha256", text, "base64");
}
