import { counted } from "../syntax/wording.ts";

/** Something that a person should know about a workload and can put right. */
export interface Warning {
  /** The reason of the Event, in CamelCase. */
  readonly reason:
    | "InvalidAnnotation"
    | "CrossNamespaceRefused"
    | "ConfigurationMissing"
    | "OverLimit"
    | "OldFinalizer";
  /** One line: what is wrong, where, and what to do. Never a value of a ConfigMap or Secret. */
  readonly message: string;
}

/** The API server refuses an Event whose message is longer than 1 KiB. */
const mostBytes = 1000;

/** One warning for each reason, in the order in which they come first: as many messages as fit, and how many more. */
export function oneForEachReason(warnings: readonly Warning[]): readonly Warning[] {
  const byReason = Map.groupBy(warnings, ({ reason }) => reason);
  return Array.from(byReason, ([reason, alike]) => ({ reason, message: joined(alike.map(({ message }) => message)) }));
}

function joined(messages: readonly string[]): string {
  let [text = ""] = messages;
  for (const [index, message] of messages.entries()) {
    if (index === 0) continue;
    const longer = `${text}; ${message}`;
    const room = index + 1 < messages.length ? mostBytes - 20 : mostBytes;
    if (Buffer.byteLength(longer) > room) return `${text}; and ${counted(messages.length - index)} more`;
    text = longer;
  }
  return text;
}
