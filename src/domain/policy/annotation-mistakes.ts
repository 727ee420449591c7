import { annotationPrefix, configHash, workloadRefHash, writtenByWave } from "../references/annotations.ts";
import type { Warning } from "../references/warning.ts";
import { type Annotations, waveNames } from "../references/wave-annotations.ts";
import { editDistance } from "../syntax/edit-distance.ts";
import { counted, quoted } from "../syntax/wording.ts";
import { policyAnnotationsOf } from "./policy-annotations.ts";
import { type Place, policyAnnotations, policyRows, readValue } from "./policy-rows.ts";
import { writtenByPeople } from "./user-annotations.ts";

/** How many annotations of each place get a message of their own. */
const shownNames = 3;

/**
 * The annotations of Wave that cannot be read, stand where they do nothing, or whose name Wave does not know: the first
 * few each with what to write instead, the rest counted.
 */
export function annotationMistakes(onWorkload: Annotations, onTemplate: Annotations): readonly Warning[] {
  // The hash on the workload itself does nothing, but it is no mistake that a person made.
  const unknown = waveNames(onWorkload).filter((name) => !known.includes(name) && name !== configHash);
  const misplaced = waveNames(onTemplate).filter((name) => name !== configHash && name !== workloadRefHash);
  return [
    ...unreadable(onWorkload),
    ...firstFew(unknown, mistakeOnWorkload, "annotations of Wave are not known on a workload"),
    ...firstFew(misplaced, mistakeOnTemplate, "annotations of Wave have no effect on the pod template"),
  ].map((message) => ({ reason: "InvalidAnnotation", message }));
}

function firstFew(names: readonly string[], say: (name: string) => string, all: string): readonly string[] {
  const rest = names.length - shownNames;
  const shown = names.slice(0, shownNames).map(say);
  return rest > 0 ? [...shown, `${counted(rest)} more ${all}`] : shown;
}

function mistakeOnTemplate(name: string): string {
  return `annotation ${quoted(name)} has no effect on the pod template; write it on the workload's own metadata`;
}

function mistakeOnWorkload(name: string): string {
  if (onConfigs.includes(name))
    return `annotation ${name} has no effect on a workload; write it on a ConfigMap or Secret`;
  const meant = nearest(name);
  if (meant !== undefined) return `annotation ${quoted(name)} is not known; did you mean ${meant}?`;
  return `annotation ${quoted(name)} is not known; after ${annotationPrefix} you can write ${written.join(", ")}`;
}

/** What people write, without prefix: on a workload, and on a ConfigMap or Secret alone. */
const written = namesOn("workload");
const onConfigs = namesOn("config")
  .filter((name) => !written.includes(name))
  .map((name) => annotationPrefix + name);

function namesOn(place: Place): readonly string[] {
  return Object.keys(writtenByPeople).filter((name) => writtenByPeople[name]?.places.includes(place));
}

/** Every annotation that does something on a workload. */
const known: readonly string[] = [...written.map((name) => annotationPrefix + name), ...writtenByWave];

/** The longest name that could be one of Wave's with a third of it written otherwise. */
const longestMeant = 80;

/** What was probably meant: no more than a third of the name, without its prefix, is written otherwise. */
function nearest(name: string): string | undefined {
  if (name.length > longestMeant) return undefined;
  const near = known.map((one) => ({ one, distance: editDistance(name, one) }));
  const best = near.reduce((first, other) => (other.distance < first.distance ? other : first));
  return best.distance <= (best.one.length - annotationPrefix.length) / 3 ? best.one : undefined;
}

/** What a workload's own annotations say of when it is rolled and nobody can read: each with what to write instead. */
function unreadable(annotations: Annotations): readonly string[] {
  const policy = policyAnnotationsOf(annotations, "workload");
  return policyAnnotations.flatMap((name) => {
    const text = policy[name];
    if (text === undefined || text.trim() === "" || readValue(name, text) !== undefined) return [];
    const { allowed, holdsUnread } = policyRows[name];
    const then = holdsUnread ? "it is not rolled before that is put right" : "it has no effect";
    return [`annotation ${annotationPrefix}${name}: ${quoted(text)} is not ${allowed}; ${then}`];
  });
}
