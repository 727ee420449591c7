import {
  annotationPrefix,
  configBaseline,
  configHash,
  rollStreak,
  schedulingDisabled,
  sharedWith,
  workloadAnnotations,
} from "./annotations.ts";
import { editDistance } from "./edit-distance.ts";
import type { Warning } from "./warning.ts";
import { type Annotations, waveNames } from "./wave-annotations.ts";
import { counted, quoted } from "./wording.ts";

/** How many annotations of each place get a message of their own. */
const shownNames = 3;

/**
 * The annotations of Wave that stand where they do nothing, or whose name Wave does not know: the first few each with
 * what to write instead, the rest counted.
 */
export function annotationMistakes(onWorkload: Annotations, onTemplate: Annotations): readonly Warning[] {
  // The hash on the workload itself does nothing, but it is no mistake that a person made.
  const unknown = waveNames(onWorkload).filter((name) => !workloadAnnotations.includes(name) && name !== configHash);
  const misplaced = waveNames(onTemplate).filter((name) => name !== configHash);
  return [
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
  if (name === sharedWith) return `annotation ${name} has no effect on a workload; write it on a ConfigMap or Secret`;
  const meant = nearest(name);
  if (meant !== undefined) return `annotation ${quoted(name)} is not known; did you mean ${meant}?`;
  return `annotation ${quoted(name)} is not known; those that you can write are ${ownAnnotations.join(", ")}`;
}

const writtenByWave: readonly string[] = [schedulingDisabled, configBaseline, rollStreak];

/** Those of a workload that people write. */
const ownAnnotations = workloadAnnotations.filter((name) => !writtenByWave.includes(name));

/** The longest name that could be one of Wave's with a third of it written otherwise. */
const longestMeant = 80;

/** What was probably meant: no more than a third of the name, without its prefix, is written otherwise. */
function nearest(name: string): string | undefined {
  if (name.length > longestMeant) return undefined;
  const written = workloadAnnotations.map((known) => ({ known, distance: editDistance(name, known) }));
  const best = written.reduce((one, other) => (other.distance < one.distance ? other : one));
  return best.distance <= (best.known.length - annotationPrefix.length) / 3 ? best.known : undefined;
}
