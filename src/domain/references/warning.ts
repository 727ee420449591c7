import { formatCount } from "../syntax/wording.ts";

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
