import { formatCount, quoted } from "../syntax/names.ts";

/** A problem of a workload that a person can correct. */
export interface Warning {
  /** Reason of the Event, in CamelCase. */
  readonly reason:
    | "InvalidAnnotation"
    | "CrossNamespaceRefused"
    | "ConfigurationMissing"
    | "OverLimit"
    | "OldFinalizer"
    | "AnnotationsKept"
    | "AnnotationsLost"
    | "RolloutBlocked"
    | "ConfigurationFlaps"
    | "SchedulingHoldExpired"
    | "Unpinned"
    | "PinsKept"
    | "RolledBack";
  /** One line: what is wrong, where, and what to do. Never contains a value of a ConfigMap or Secret. */
  readonly message: string;
}

/** Limit of a joined message, in bytes. The API server rejects Events whose message is longer than 1 KiB. */
const maxBytes = 1000;

/** Merges warnings to one for each reason, in order of first occurrence. Joins as many messages as fit, and counts the others. */
export function mergeWarnings(warnings: readonly Warning[]): readonly Warning[] {
  if (warnings.length < 2) return warnings;
  const byReason = Map.groupBy(warnings, ({ reason }) => reason);
  return Array.from(byReason, ([reason, group]) => ({ reason, message: joined(group.map(({ message }) => message)) }));
}

function joined(messages: readonly string[]): string {
  let [text = ""] = messages;
  for (const [index, message] of messages.entries()) {
    if (index === 0) continue;
    const separator = /[.?]$/.test(text) ? " " : "; ";
    const longer = text + separator + message;
    const room = index + 1 < messages.length ? maxBytes - 20 : maxBytes;
    if (Buffer.byteLength(longer) > room) {
      const rest = formatCount(messages.length - index);
      return separator === " " ? `${text} ${rest} more.` : `${text}; and ${rest} more`;
    }
    text = longer;
  }
  return text;
}

/** The texts of warnings with the reason `InvalidAnnotation`: state, cause, next step. docs/events.md is made from this table. */
export const invalidAnnotationTexts = {
  misspelt: (name: string, meant: string) => `Annotation ${quoted(name)} is unknown. Did you mean ${meant}?`,
  unknown: (name: string, prefix: string, names: string) =>
    `Annotation ${quoted(name)} is unknown. Valid names after ${prefix} are ${names}.`,
  moreUnknown: (count: string) => `${count} more Wave annotations of the workload are unknown.`,
  onTemplate: (name: string) =>
    `Annotation ${quoted(name)} is ignored on the pod template. Move it to the metadata of the workload.`,
  moreOnTemplate: (count: string) => `${count} more Wave annotations are ignored on the pod template.`,
  label: (name: string) =>
    `Label ${quoted(name)} has no effect. Wave reads annotations, not labels. Set an annotation with this name, and remove the label.`,
  moreLabels: (count: string) => `${count} more labels have names of Wave annotations.`,
  onlyOnConfig: (name: string) => `Annotation ${name} has no effect on a workload. Set it on a ConfigMap or Secret.`,
  holdingValue: (name: string, value: string, allowed: string) =>
    `Annotation ${name} has the invalid value ${quoted(value)}. Use ${allowed}. Wave does not roll the workload until you correct the annotation.`,
  ignoredValue: (name: string, value: string, allowed: string) =>
    `Annotation ${name} has the invalid value ${quoted(value)}. Use ${allowed}. The annotation has no effect.`,
  unclearOptIn: (name: string, value: string) =>
    `Annotation ${name} is ${quoted(value)}, not "true" or "false". Write "true" to opt in.`,
  invalidEntry: (annotation: string, entry: string) =>
    `1 entry of ${annotation} is not a valid name: ${entry}. Write name or namespace/name, separated by commas.`,
  invalidEntries: (count: string, annotation: string, entries: string) =>
    `${count} entries of ${annotation} are not valid names: ${entries}. Write name or namespace/name, separated by commas.`,
  invalidNames: (annotation: string, kind: string, entries: string) =>
    `Annotation ${annotation} has entries that are not valid names of a ${kind}: ${entries}. Correct or remove these entries.`,
  invalidPattern: (annotation: string, patterns: string) =>
    `Annotation ${annotation} has invalid entries: ${patterns}. Write names or regular expressions of objects in the namespace of the workload, separated by commas.`,
  tooManyPatterns: (annotation: string, patterns: string, characters: string) =>
    `Annotation ${annotation} has more than ${patterns} patterns, or a pattern with more than ${characters} characters. Wave ignores the patterns over these limits. Use fewer or shorter patterns.`,
  invalidPause: (annotation: string, value: string) =>
    `Annotation ${annotation} has the invalid value ${quoted(value)}. Use a duration such as "5m".`,
  contradiction: (annotation: string, value: string, others: string) =>
    `Annotation ${annotation}: ${quoted(value)} does not opt the workload in, but the annotations of ${others} do. Wave rolls the workload for the objects in these other annotations. Remove one of the annotations.`,
  validatorKind: (kind: string) =>
    `Annotation wave.pusher.com/validator has no effect on a ${kind}. Run the check in a Deployment of its own, and set the annotation there.`,
  returnWithoutPins:
    'Annotation wave.pusher.com/on-failure has no effect: the workload is not pinned. Run Wave with --pin-config, and set wave.pusher.com/pin-config to "true".',
  templateSourceMissing: (source: string) =>
    `Not rolled. The template source ${source} does not exist in this namespace. Create it.`,
  templateSourceUnsupported: (source: string) =>
    `Not rolled. The template source ${source} is not a Deployment. Wave reads only the pod templates of Deployments.`,
} as const;

/**
 * The texts about annotations and labels of Namespaces, ConfigMaps and Secrets, which are Events with the reason `InvalidAnnotation` on
 * ConfigMaps and Secrets.
 */
export const misusedAnnotationTexts = {
  unknown: (name: string, meant: string | undefined) =>
    `Annotation ${quoted(name)} is unknown.${meant === undefined ? "" : ` Did you mean ${meant}?`}`,
  noEffect: (name: string, kind: string, isForWorkloads: boolean) =>
    `Annotation ${quoted(name)} has no effect on a ${kind}.${isForWorkloads ? " Set it on the workload." : ""}`,
  invalid: (name: string, value: string, allowed: string) => `Annotation ${name} is ${quoted(value)}, not ${allowed}.`,
  label: (name: string, kind: string) =>
    `Label ${quoted(name)} has no effect on a ${kind}. Wave reads annotations, not labels.`,
} as const;

/** The texts of warnings with the reason `CrossNamespaceRefused`, after the names of the objects. docs/events.md is made from this table. */
export const crossNamespaceTexts = {
  unshared: (annotation: string, namespace: string) =>
    `missing, or not shared with this namespace. Check the name, or set annotation ${annotation}: "${namespace}" on the object.`,
  off: "ignored. References into other namespaces are off (--cross-namespace=none).",
  unwatched: "ignored. Wave does not watch that namespace (--namespaces).",
} as const;

/** The text of warnings with the reason `OverLimit`. */
export const overLimitText = (excess: string): string => `Not rolled: ${excess}`;

/** The text of a warning with the reason `OverLimit` about an object that Wave compares as a whole. */
export const wholeObjectText = (object: string, count: string, limit: string): string =>
  `${object} has ${count} keys, and the limit for all keys that the Pods read is ${limit}. Wave rolls the workload for each change of its data, also of keys that no Pod reads. Split that object, or combine its keys in one file.`;
